use tessera_model::{cluster::*, *};

#[test]
fn bands_follow_the_interface() {
    let band =
        |score| Relevance { score, kind: ScoreKind::CosineDistance }.band(ScoreScale::Visual);
    assert_eq!(band(0.0), Some(RelevanceBand::Same));
    assert_eq!(band(0.3), Some(RelevanceBand::High));
    assert_eq!(band(0.4), Some(RelevanceBand::Related));
    assert_eq!(band(0.5), Some(RelevanceBand::Loose));
    let other = Relevance { score: 0.1, kind: ScoreKind::Other(SafeText::name("dot")) };
    assert_eq!(other.band(ScoreScale::Visual), None);
}

#[test]
fn caption_scores_have_their_own_bands() {
    let band =
        |score| Relevance { score, kind: ScoreKind::CosineDistance }.band(ScoreScale::Caption);
    assert_eq!(band(0.39), Some(RelevanceBand::Strong));
    assert_eq!(band(0.4), Some(RelevanceBand::Partial));
    assert_eq!(band(0.6), Some(RelevanceBand::Partial));
    assert_eq!(band(0.61), Some(RelevanceBand::Loose));
}
