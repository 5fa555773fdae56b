use rten_tensor::NdTensor;

use crate::depthwise::*;

/// Returns numbers from -1 to 1 that repeat only after 101 numbers.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    let number = |at: usize| f32::from(u8::try_from((at * 37 + seed) % 101).unwrap()) / 50.0 - 1.0;
    (0..count).map(number).collect()
}

fn convolution(channels: usize, geometry: FilterGeometry) -> DepthwiseConvolution {
    let [height, width] = geometry.size;
    DepthwiseConvolution {
        geometry,
        weights: numbers(channels * height * width, 5),
        bias: numbers(channels, 9),
    }
}

/// Computes the convolution directly from its definition.
fn expected(convolution: &DepthwiseConvolution, input: &NdTensorView<f32, 4>) -> Vec<f32> {
    let [batch, channels, height, width] = input.shape();
    let FilterGeometry { size, strides, dilations, padding } = convolution.geometry;
    let [rows, columns] = convolution.geometry.output_size([height, width]).unwrap();
    let pixel = |picture: usize, channel: usize, row: usize, column: usize| {
        let row = row.checked_sub(padding[0]).filter(|row| *row < height)?;
        let column = column.checked_sub(padding[1]).filter(|column| *column < width)?;
        Some(input[[picture, channel, row, column]])
    };
    let mut output = Vec::new();
    for place in 0..batch * channels * rows * columns {
        let [column, row] = [place % columns, place / columns % rows];
        let channel = place / columns / rows % channels;
        let picture = place / columns / rows / channels;
        let mut sum = convolution.bias[channel];
        for tap in 0..size[0] * size[1] {
            let row = row * strides[0] + tap / size[1] * dilations[0];
            let column = column * strides[1] + tap % size[1] * dilations[1];
            let weight = convolution.weights[channel * size[0] * size[1] + tap];
            sum += pixel(picture, channel, row, column).unwrap_or_default() * weight;
        }
        output.push(sum);
    }
    output
}

fn check(convolution: &DepthwiseConvolution, shape: [usize; 4]) {
    let input = NdTensor::from_data(shape, numbers(shape.iter().product(), 3));
    let expected = expected(convolution, &input.view());
    // The content of the buffer must not matter.
    for buffer in [Vec::new(), vec![f32::NAN; 3], vec![f32::NAN; 100_000]] {
        let output = convolution.apply(&input.view(), buffer).unwrap();
        let geometry = convolution.geometry;
        assert_eq!(output.to_vec(), expected, "{geometry:?} of {shape:?}");
    }
}

#[test]
fn pictures_of_all_widths_are_filtered() {
    let geometry =
        FilterGeometry { size: [3, 5], strides: [1, 1], dilations: [1, 1], padding: [1, 2, 1, 2] };
    for width in 1..40 {
        check(&convolution(3, geometry), [1, 3, 40 - width, width]);
    }
}

#[test]
fn strides_dilations_and_uneven_padding_are_those_of_the_definition() {
    for size in [[1, 1], [3, 3], [2, 4], [7, 1]] {
        for strides in [[1, 2], [2, 1], [2, 2], [3, 4]] {
            for dilations in [[1, 1], [2, 1], [1, 3]] {
                for padding in [[0; 4], [0, 0, 1, 1], [2, 1, 0, 3]] {
                    let geometry = FilterGeometry { size, strides, dilations, padding };
                    check(&convolution(2, geometry), [1, 2, 13, 22]);
                }
            }
        }
    }
}

#[test]
fn many_channels_of_several_pictures_are_filtered() {
    let geometry =
        FilterGeometry { size: [3, 3], strides: [1, 1], dilations: [1, 1], padding: [1; 4] };
    check(&convolution(21, geometry), [3, 21, 6, 7]);
}

#[test]
fn other_channels_and_pictures_smaller_than_the_filter_are_refused() {
    let geometry =
        FilterGeometry { size: [5, 5], strides: [1, 1], dilations: [1, 1], padding: [1; 4] };
    let convolution = convolution(2, geometry);
    for shape in [[1, 3, 9, 9], [1, 2, 2, 9], [1, 2, 9, 2], [1, 2, 0, 0]] {
        let input = NdTensor::zeros(shape);
        assert!(convolution.apply(&input.view(), Vec::new()).is_err(), "{shape:?}");
    }
    let input = NdTensor::zeros([0, 2, 9, 9]);
    assert_eq!(convolution.apply(&input.view(), vec![1.0]).unwrap().shape(), [0, 2, 7, 7]);
}
