//! A generated crowd that resembles the people of a census. It replaces the census extracts of the
//! paper P4, which may not be redistributed. Its true values are known exactly.
//!
//! Numeric attributes follow mixtures of two normal distributions, clipped to [−1, 1]. All
//! attributes depend on one common random factor, so any two have a correlation of 0.2 to 0.6.
//! Categories follow Zipf's law with exponent 1.3 over 2 to 9 values. Each category depends on one
//! numeric attribute. Income is a linear function of all attributes plus normal noise, which has a
//! third of the income's variance.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

use super::random::ZipfItemDistribution;

/// Extract of a census, used in P4, that the crowd resembles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CensusExtract {
    /// Extract with 6 numeric and 10 categorical attributes, which give 42 features.
    Brazil,
    /// Extract with 5 numeric and 14 categorical attributes, which give 85 features.
    Mexico,
}

impl CensusExtract {
    /// List of all census extracts.
    pub(crate) const ALL: [Self; 2] = [Self::Brazil, Self::Mexico];

    /// Number of values of each categorical attribute.
    pub(crate) const fn category_sizes(self) -> &'static [u32] {
        match self {
            Self::Brazil => &[2, 2, 3, 3, 4, 4, 5, 6, 7, 9],
            Self::Mexico => &[2, 3, 4, 5, 6, 6, 7, 7, 8, 9, 9, 9, 9, 9],
        }
    }

    /// Number of numeric attributes.
    pub(crate) const fn numeric_count(self) -> u32 {
        match self {
            Self::Brazil => 6,
            Self::Mexico => 5,
        }
    }

    /// Name of the crowd in tables.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Brazil => "like Brazil's census",
            Self::Mexico => "like Mexico's census",
        }
    }
}

/// Distribution from which the people of a census-like crowd are drawn.
#[derive(Debug, Clone)]
pub(crate) struct CensusCrowd {
    extract: CensusExtract,
    numeric_attributes: Vec<NumericAttribute>,
    category_distributions: Vec<ZipfItemDistribution>,
    /// Weight of each feature in the income, except the constant feature.
    feature_weights: Vec<f64>,
    /// Mean, over people, of the weighted sum of a person's features. A person's income is
    /// (weighted sum − `centre`)·`signal_to_income_factor` plus noise.
    mean_income_signal: f64,
    signal_to_income_factor: f64,
}

/// Parameters of a numeric attribute.
#[derive(Debug, Clone, Copy)]
struct NumericAttribute {
    /// Correlation of the attribute, before clipping, with the common random factor.
    common_factor_correlation: f64,
    /// Median of the attribute over all people.
    median: f64,
}

/// Person of a generated crowd, or of a row of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Person {
    /// Values of the numeric attributes, in [−1, 1].
    pub(crate) numeric_values: Vec<f64>,
    /// Values of the categorical attributes, each numbered from 0.
    pub(crate) category_values: Vec<u32>,
    /// Features: the numbers, then one feature for each value of a category except the last, and
    /// the constant 1.
    pub(crate) features: Vec<f64>,
    /// Income in [−1, 1], with a mean near 0.
    pub(crate) income: f64,
}

/// Standard deviation of a numeric attribute before it is clipped.
const NUMERIC_ATTRIBUTE_DEVIATION: f64 = 0.35;
/// Standard deviation of income, before it is clipped.
const INCOME_STANDARD_DEVIATION: f64 = 0.4;
/// Fraction of the income's variance that comes from noise.
const NOISE_VARIANCE_FRACTION: f64 = 1.0 / 3.0;
/// Distance between the mean of either normal distribution and the median of the mixture, in
/// standard deviations of the mixture.
const MIXTURE_OFFSET: f64 = 0.8;
/// Number of people in the sample from which `centre` and `signal_to_income_factor` of incomes are computed.
const FIT_SAMPLE_SIZE: u32 = 20_000;

impl CensusCrowd {
    /// Creates the crowd that resembles an extract. The result is always the same.
    pub(crate) fn new(extract: CensusExtract) -> Self {
        let rng = &mut ChaCha8Rng::seed_from_u64(1990 + u64::from(extract.numeric_count()));
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let last = f64::from(extract.numeric_count() - 1);
        let numeric = |index: u32| NumericAttribute {
            // The correlation of two attributes is the product of their correlations with the
            // factor: 0.22 to 0.58.
            common_factor_correlation: 0.46 + 0.32 * f64::from(index) / last,
            median: 0.2 * f64::from(index) / last - 0.1,
        };
        let law = |values: &u32| ZipfItemDistribution::new(*values, 1.3);
        let numbers = extract.numeric_count() as usize;
        // Numeric attributes vary less than the features of categories, so their weights are
        // larger.
        let strength = |index| if index < numbers { 2.0 } else { 1.0 };
        let mut census = Self {
            extract,
            numeric_attributes: (0..extract.numeric_count()).map(numeric).collect(),
            category_distributions: extract.category_sizes().iter().map(law).collect(),
            feature_weights: Vec::new(),
            mean_income_signal: 0.0,
            signal_to_income_factor: 1.0,
        };
        let features = 0..census.feature_count() as usize - 1;
        census.feature_weights = features.map(|index| strength(index) * normal()).collect();
        census.fit_income_scale(&mut ChaCha8Rng::seed_from_u64(0));
        census
    }

    /// Computes `centre` and `signal_to_income_factor` of incomes from a sample of people.
    fn fit_income_scale(&mut self, rng: &mut ChaCha8Rng) {
        let mut person = Person::default();
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..FIT_SAMPLE_SIZE {
            self.draw_features(rng, &mut person);
            let signal = self.income_signal(&person);
            sum += signal;
            squares += signal * signal;
        }
        let n = f64::from(FIT_SAMPLE_SIZE);
        let variance = squares / n - (sum / n).powi(2);
        self.mean_income_signal = sum / n;
        self.signal_to_income_factor =
            INCOME_STANDARD_DEVIATION * ((1.0 - NOISE_VARIANCE_FRACTION) / variance).sqrt();
    }

    /// Number of features of a person, which is the length of a gradient.
    pub(crate) fn feature_count(&self) -> u32 {
        let more: u32 = self
            .extract
            .category_sizes()
            .iter()
            .map(|values| values - 1)
            .sum();
        self.extract.numeric_count() + more + 1
    }

    /// Draws a person and writes the drawn values to `person`.
    pub(crate) fn draw_person(&self, rng: &mut ChaCha8Rng, person: &mut Person) {
        self.draw_features(rng, person);
        let noise: f64 = StandardNormal.sample(rng);
        let signal =
            self.signal_to_income_factor * (self.income_signal(person) - self.mean_income_signal);
        let income = signal + INCOME_STANDARD_DEVIATION * NOISE_VARIANCE_FRACTION.sqrt() * noise;
        person.income = income.clamp(-1.0, 1.0);
    }

    fn income_signal(&self, person: &Person) -> f64 {
        let both = self.feature_weights.iter().zip(&person.features);
        both.map(|(weight, feature)| weight * feature).sum()
    }

    fn draw_features(&self, rng: &mut ChaCha8Rng, person: &mut Person) {
        let Person {
            numeric_values: numbers,
            category_values: categories,
            ..
        } = person;
        numbers.clear();
        categories.clear();
        let factor = draw_normal_mixture(rng);
        for own in &self.numeric_attributes {
            let alone =
                (1.0 - own.common_factor_correlation * own.common_factor_correlation).sqrt();
            let z = own.common_factor_correlation * factor + alone * draw_normal_mixture(rng);
            numbers.push((own.median + NUMERIC_ATTRIBUTE_DEVIATION * z).clamp(-1.0, 1.0));
        }
        for (index, law) in self.category_distributions.iter().enumerate() {
            let on = index % numbers.len();
            // People above the median of the number take the smaller of two draws of the category.
            // The other half takes the larger. Each group is half of the people, so the
            // distribution of the category is still Zipf's.
            let [a, b] = [law.draw_item(rng), law.draw_item(rng)];
            let above = numbers[on] > self.numeric_attributes[on].median;
            categories.push(if above { a.min(b) } else { a.max(b) });
        }
        person.compute_features(self.extract.category_sizes());
    }
}

impl Person {
    /// Computes the person's features from the numbers and categories. `values` has the number of
    /// values of each category.
    pub(crate) fn compute_features(&mut self, values: &[u32]) {
        self.features.clone_from(&self.numeric_values);
        for (&values, &own) in values.iter().zip(&self.category_values) {
            let feature = |value| if value == own { 1.0 } else { -1.0 };
            self.features.extend((0..values - 1).map(feature));
        }
        self.features.push(1.0);
    }
}

/// Draws from a symmetric mixture of two normal distributions. The mixture has mean 0 and variance
/// 1.
fn draw_normal_mixture(rng: &mut ChaCha8Rng) -> f64 {
    let side = if rng.next_u64() >> 63 == 1 {
        MIXTURE_OFFSET
    } else {
        -MIXTURE_OFFSET
    };
    let normal: f64 = StandardNormal.sample(rng);
    side + (1.0 - MIXTURE_OFFSET * MIXTURE_OFFSET).sqrt() * normal
}

#[cfg(test)]
mod tests {
    use crate::competitors::encode_category_as_signs;

    use super::*;

    fn people(census: &CensusCrowd, count: usize) -> Vec<Person> {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let mut draw = || {
            let mut person = Person::default();
            census.draw_person(rng, &mut person);
            person
        };
        (0..count).map(|_| draw()).collect()
    }

    fn correlation(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
        let pairs: Vec<(f64, f64)> = pairs.collect();
        let mean =
            |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
        let [x, y] = [mean(|pair| pair.0), mean(|pair| pair.1)];
        let both = mean(|(x, y)| x * y) - x * y;
        let squares = [mean(|(x, _)| x * x) - x * x, mean(|(_, y)| y * y) - y * y];
        both / (squares[0] * squares[1]).sqrt()
    }

    #[test]
    fn people_are_as_described() {
        for (extract, features) in [(CensusExtract::Brazil, 42), (CensusExtract::Mexico, 85)] {
            let census = CensusCrowd::new(extract);
            assert_eq!(census.feature_count(), features);
            let crowd = people(&census, 20_000);
            let numbers = extract.numeric_count() as usize;
            for (i, j) in (0..numbers).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let pairs = crowd
                    .iter()
                    .map(|own| (own.numeric_values[i], own.numeric_values[j]));
                let shared = correlation(pairs);
                assert!((0.18..0.62).contains(&shared), "{i} {j}: {shared}");
            }
            for (index, &values) in extract.category_sizes().iter().enumerate() {
                let first = crowd.iter().filter(|own| own.category_values[index] == 0);
                let share = first.count() as f64 / crowd.len() as f64;
                let weights = (1..=values).map(|rank| f64::from(rank).powf(-1.3));
                let first = 1.0 / weights.sum::<f64>();
                assert!((share - first).abs() < 0.02, "{index}: {share}");
                let on = index % numbers;
                let pairs = crowd.iter().map(|own| {
                    (
                        own.numeric_values[on],
                        f64::from(own.category_values[index]),
                    )
                });
                let shared = correlation(pairs);
                assert!(shared < -0.2, "{index}: {shared}");
            }
        }
    }

    #[test]
    fn features_are_encoded_as_the_paper_has_them() {
        let census = CensusCrowd::new(CensusExtract::Mexico);
        for person in people(&census, 50) {
            let mut expected = person.numeric_values.clone();
            let both = person
                .category_values
                .iter()
                .zip(census.extract.category_sizes());
            for (&value, &values) in both {
                expected.extend(encode_category_as_signs(value, values).unwrap());
            }
            expected.push(1.0);
            assert_eq!(person.features, expected);
            assert!(expected.iter().all(|own| own.abs() <= 1.0));
            assert!(person.income.abs() <= 1.0);
        }
    }

    #[test]
    fn a_third_of_incomes_variance_is_noise() {
        let census = CensusCrowd::new(CensusExtract::Brazil);
        let crowd = people(&census, 20_000);
        let pairs = crowd
            .iter()
            .map(|own| (census.income_signal(own), own.income));
        let explained = correlation(pairs).powi(2);
        assert!((explained - 2.0 / 3.0).abs() < 0.02, "{explained}");
    }
}
