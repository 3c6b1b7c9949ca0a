/// A sample that has a size.
protocol MP4SizedSample {
    /// Its bytes.
    var size: UInt32 { get }
}

extension MP4Chunk.Sample: MP4SizedSample {}

/// Puts the samples of a fragment together: those whose bytes follow each other in the file become one run, however many
/// boxes describe them.
///
/// A fragment may have a box for each of its samples, and there may be 100,000 of them. So the size of each sample is
/// read once, when the sample is appended.
struct MP4RunBuilder<Sample: MP4SizedSample> {
    /// Samples whose bytes follow each other, and where the first of these bytes is in the file.
    struct Run {
        var offset: Int64
        var samples: [Sample]
    }

    /// The runs, in the order in which their first samples came.
    private(set) var runs: [Run] = []
    /// Where the bytes of the next sample begin in the file.
    var position: Int64
    /// Where the newest run ends in the file; nil before the first sample.
    private var end: Int64?

    /// Begins at a place of the file.
    init(at position: Int64) {
        self.position = position
    }

    /// Appends the sample whose bytes begin at ``position``.
    mutating func append(_ sample: Sample) {
        if end == position {
            runs[runs.count - 1].samples.append(sample)
        } else {
            runs.append(Run(offset: position, samples: [sample]))
        }
        position += Int64(sample.size)
        end = position
    }
}
