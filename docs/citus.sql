-- Distributes the largest tables of a store over the machines of a Citus cluster.
--
-- UNTESTED ON CITUS. The tests of tessera only run it on a plain PostgreSQL server, with a stand-in for
-- create_distributed_table. Try it with a copy of your store, and keep a dump.
--
-- Run it once after `tessera store init`, on the coordinator, while no tessera process runs:
--   psql "$TESSERA_STORE" --single-transaction --file=citus.sql
--
-- Descriptors, vectors and thumbnails are nine tenths of a store; they are distributed by their media item.
-- Everything else stays on the coordinator: indexing tasks, leases and exports, because rows of several shards
-- cannot be locked for update, and captions, because their words are counted by triggers.

-- Distributed tables cannot refer to tables of the coordinator. A trigger removes their rows instead.
ALTER TABLE picture_features DROP CONSTRAINT picture_features_media_fkey;
ALTER TABLE text_vector DROP CONSTRAINT text_vector_media_fkey;
ALTER TABLE model_vector DROP CONSTRAINT model_vector_media_fkey;
ALTER TABLE model_label DROP CONSTRAINT model_label_media_fkey;
ALTER TABLE thumbnail DROP CONSTRAINT thumbnail_media_fkey;
ALTER TABLE frame_picture DROP CONSTRAINT frame_picture_media_fkey;
ALTER TABLE packed_thumbnail DROP CONSTRAINT packed_thumbnail_media_fkey;
ALTER TABLE packed_thumbnail DROP CONSTRAINT packed_thumbnail_pack_fkey;
ALTER TABLE packed_frame_picture DROP CONSTRAINT packed_frame_picture_media_fkey;
ALTER TABLE packed_frame_picture DROP CONSTRAINT packed_frame_picture_pack_fkey;

-- An array, because the query for a shard cannot read the table of a trigger.
CREATE FUNCTION remove_distributed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  gone bigint[] := (SELECT array_agg(row) FROM removed);
BEGIN
  DELETE FROM picture_features WHERE media = ANY (gone);
  DELETE FROM text_vector WHERE media = ANY (gone);
  DELETE FROM model_vector WHERE media = ANY (gone);
  DELETE FROM model_label WHERE media = ANY (gone);
  DELETE FROM thumbnail WHERE media = ANY (gone);
  DELETE FROM frame_picture WHERE media = ANY (gone);
  DELETE FROM packed_thumbnail WHERE media = ANY (gone);
  DELETE FROM packed_frame_picture WHERE media = ANY (gone);
  RETURN NULL;
END $$;
CREATE TRIGGER distributed_removed AFTER DELETE ON media REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION remove_distributed();

SELECT create_distributed_table('picture_features', 'media');
SELECT create_distributed_table('text_vector', 'media', colocate_with => 'picture_features');
SELECT create_distributed_table('model_vector', 'media', colocate_with => 'picture_features');
SELECT create_distributed_table('model_label', 'media', colocate_with => 'picture_features');
SELECT create_distributed_table('thumbnail', 'media', colocate_with => 'picture_features');
SELECT create_distributed_table('frame_picture', 'media', colocate_with => 'picture_features');
SELECT create_distributed_table('packed_thumbnail', 'media', colocate_with => 'picture_features');
SELECT create_distributed_table('packed_frame_picture', 'media', colocate_with => 'picture_features');
