//! Lists other words for the actions, by which the palette and the menu find an action as well as by its name and its
//! help. Come here when somebody looks for an action by a word that finds nothing.

use crate::input::Action;

const SYNONYMS: &[(&[Action], &str)] = &[
    (&[Action::Open], "enter view"),
    (&[Action::Back], "close cancel return"),
    (&[Action::NextTab, Action::PreviousTab], "switch tab"),
    (&[Action::FullSize], "zoom view large fullscreen picture image photo enlarge preview"),
    (&[Action::OpenExternally], "xdg-open application program viewer original default"),
    (&[Action::Compare], "duplicate duplicates side by diff difference similar review"),
    (&[Action::Difference], "diff changes"),
    (&[Action::KeepPicture], "duplicate best"),
    (&[Action::Play], "video animate frames"),
    (&[Action::Similar], "like duplicate duplicates near nearest neighbors reverse image search"),
    (&[Action::SimilarToFile], "upload like query reverse image search path"),
    (&[Action::PickRegion, Action::PickRegionOfQuery], "crop part box detail object similar"),
    (&[Action::Caption], "find text words description semantic"),
    (
        &[Action::GetModel],
        "download install ai clip siglip semantic encoder embedding starter meaning hub onnx",
    ),
    (&[Action::Filter], "find file name path folder"),
    (&[Action::Sort], "order by name date size arrange"),
    (&[Action::Fold], "group duplicate duplicates collapse hide"),
    (
        &[Action::Facets],
        "labels label tags classes statistics counts quality issues blurry dark duplicates summary",
    ),
    (&[Action::ScoreHistogram], "threshold distribution limit plot"),
    (&[Action::Finer, Action::Coarser], "threshold cluster size group level zoom"),
    (&[Action::ToggleEntity], "objects boxes detections crops"),
    (&[Action::Refresh], "reload update again"),
    (&[Action::Combine], "merge union intersect subtract difference set"),
    (
        &[Action::Check],
        "quality ci lint gate validate verify threshold issues blurry mislabeled duplicate report",
    ),
    (
        &[Action::Map],
        "scatter embedding embeddings plot points lasso umap projection overview cluster clusters",
    ),
    (&[Action::History], "recent searches earlier past"),
    (&[Action::Relax], "loosen widen"),
    (
        &[Action::Select, Action::SelectRange, Action::SelectPage, Action::SelectAll],
        "mark choose check basket",
    ),
    (&[Action::SelectRest], "invert inverse complement others everything else opposite"),
    (
        &[Action::SelectDiverse],
        "different various varied representative sample coreset k-center active learning label first",
    ),
    (&[Action::Exclude], "remove member without unselect"),
    (&[Action::Deselect, Action::ClearBasket], "delete unselect reset empty"),
    (&[Action::FocusBasket], "selection selected cart"),
    (&[Action::MoveFiles], "relocate folder path rename sort"),
    (&[Action::CopyFiles], "duplicate folder path"),
    (&[Action::LinkFiles], "hardlink folder path"),
    (&[Action::TrashFiles], "delete remove erase bin discard"),
    (&[Action::UndoFileAction], "restore revert put back recover"),
    (
        &[Action::ReviewDuplicates],
        "duplicate similar copies identical clean dedupe deduplicate redundant delete select compare",
    ),
    (
        &[Action::Split],
        "train val test validation training folds partition share holdout leaks stratify",
    ),
    (&[Action::SaveSelection, Action::OpenSelection], "load write list file path"),
    (&[Action::TagMode], "label labels annotate rate stars pick flag"),
    (&[Action::NewTag], "label create"),
    (
        &[Action::AddFilter, Action::FocusQuery],
        "label tag duplicate duplicates path size date where condition advanced search vql issue",
    ),
    (&[Action::Views, Action::SaveView], "bookmark saved search favorites smart album"),
    (&[Action::Export, Action::ExportBasket], "download zip save archive coco yolo parquet json"),
    (&[Action::Download], "save zip get"),
    (&[Action::AddMedia], "upload import ingest new pictures images files folder"),
    (&[Action::Reindex], "recluster rebuild refresh"),
    (&[Action::Rescan], "reload refresh sync folder changed new files update"),
    (&[Action::CancelIndexing, Action::CancelExport], "stop abort interrupt"),
    (&[Action::ChooseFiles], "ignore patterns include exclude folder path glob skip"),
    (&[Action::RenameDataset], "name title"),
    (&[Action::RemoveDataset], "delete forget"),
    (&[Action::ForgetJob], "delete clear"),
    (&[Action::StopWatching], "cancel abort"),
    (&[Action::Inspect], "archive zip contents"),
    (
        &[Action::Profiles, Action::Login],
        "account server service deployment key secret connect switch",
    ),
    (&[Action::CopyId, Action::CopyJson], "clipboard yank"),
    (&[Action::CopyLink], "clipboard yank url address"),
    (&[Action::CopyName], "clipboard yank path file"),
    (&[Action::CopyCommand, Action::CopyCurl, Action::CopyProfiler], "clipboard yank shell script"),
    (&[Action::LargerTiles, Action::SmallerTiles], "zoom thumbnail size grid columns"),
    (&[Action::Mosaic], "gallery justified masonry layout aspect grid columns"),
    (&[Action::WiderSides, Action::NarrowerSides], "resize layout width panel"),
    (&[Action::Status], "health counts connection details sidebar"),
    (&[Action::Zoom], "fullscreen full screen maximize"),
    (&[Action::Theme], "color colors dark light appearance"),
    (&[Action::TestPictures], "graphics sixel kitty protocol terminal"),
    (&[Action::Log], "requests errors history http debug network"),
    (&[Action::Record], "information details metadata fields properties"),
    (&[Action::Help], "keys bindings shortcuts manual"),
    (&[Action::Quit], "exit leave"),
];

impl Action {
    /// Returns the other words for the action, separated by spaces.
    pub fn synonyms(self) -> &'static str {
        let row = SYNONYMS.iter().find(|(actions, _)| actions.contains(&self));
        row.map_or("", |(_, words)| words)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_action_has_one_row_and_a_word_once() {
        let actions: Vec<Action> = SYNONYMS.iter().flat_map(|(them, _)| *them).copied().collect();
        assert_eq!(actions.iter().collect::<BTreeSet<_>>().len(), actions.len());
        for (actions, words) in SYNONYMS {
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "{actions:?}");
        }
    }
}
