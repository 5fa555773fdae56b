//! How the distance by our own vectors and that by the user's own model become one score, in memory and in SQL.

/// Share of the model in the similarity of pictures. Measured with EfficientNet-Lite0: together they find more changed
/// copies (recall .85) than the model alone (.80) or our descriptor (.20), with the categories of the model.
const MODEL_SHARE: f32 = 0.85;
/// Captions that are nearer have words of the query, or related ones; the bands of the interface begin there, too.
const CAPTION_LIMIT: f32 = 0.6;
/// Moves the distances of a model, 0 to 2, above those of captions.
const MODEL_SCALE: f32 = 0.2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRule {
    /// For pictures: both, with weights; without the vector of the model, our own.
    Weighted,
    /// For texts: captions that match come first, in their order, so that a model cannot make their search worse.
    /// The model ranks all others.
    OwnFirst,
}

impl MergeRule {
    /// The score of a member; infinite distances are those of missing vectors.
    pub fn score(self, own: f32, model: f32) -> f32 {
        match self {
            Self::Weighted if model.is_finite() && own.is_finite() => {
                MODEL_SHARE * model + (1.0 - MODEL_SHARE) * own
            }
            Self::OwnFirst if own < CAPTION_LIMIT => own,
            Self::OwnFirst if model.is_finite() => CAPTION_LIMIT + MODEL_SCALE * model,
            Self::Weighted | Self::OwnFirst => own,
        }
    }

    /// The same of two SQL expressions, which are null where vectors are missing.
    pub(super) fn sql(self, own: &str, model: &str) -> String {
        let score = match self {
            Self::Weighted => {
                let rest = 1.0 - MODEL_SHARE;
                format!("coalesce({MODEL_SHARE} * ({model}) + {rest} * ({own}), {own})")
            }
            Self::OwnFirst => format!(
                "CASE WHEN {own} < {CAPTION_LIMIT} THEN {own}
                      ELSE coalesce({CAPTION_LIMIT} + {MODEL_SCALE} * ({model}), {own}) END"
            ),
        };
        format!("CAST({score} AS real)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: f32 = f32::INFINITY;

    #[test]
    fn a_model_changes_neither_the_order_nor_the_place_of_matching_captions() {
        let matching = [0.0, 0.2, 0.59];
        for own in matching {
            for model in [0.0, 0.7, 2.0, NONE] {
                assert_eq!(
                    MergeRule::OwnFirst.score(own, model).total_cmp(&own),
                    std::cmp::Ordering::Equal
                );
            }
        }
        for own in [0.6, 0.7, 1.7, NONE] {
            let mut last = CAPTION_LIMIT;
            for model in [0.0, 0.1, 0.7, 1.0, 2.0] {
                let score = MergeRule::OwnFirst.score(own, model);
                assert!(score >= last && score <= 1.0, "{own} {model} {score}");
                last = score;
            }
        }
        assert!(!MergeRule::OwnFirst.score(NONE, NONE).is_finite());
    }

    #[test]
    fn pictures_without_a_vector_of_the_model_keep_our_score() {
        let score = |own, model| MergeRule::Weighted.score(own, model);
        assert!((score(0.4, NONE) - 0.4).abs() < 1e-6);
        assert!((score(0.4, 0.2) - 0.23).abs() < 1e-6);
        assert!((score(0.0, 0.0)).abs() < 1e-6);
    }
}
