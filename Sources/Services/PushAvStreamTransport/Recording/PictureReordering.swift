/// Finds the decode times of pictures that come in the order of decoding and say when they are shown.
///
/// The n-th picture to be decoded is decoded at the n-th of the times at which pictures are shown (ISO/IEC 14496-12,
/// section 8.6.1: decode times rise, and composition offsets lead to the times of showing). With B-frames that is known
/// only when the pictures that are decoded later and shown earlier have come, so each picture waits for as many others
/// as the stream reorders.
struct PictureReordering<Picture: Sendable>: Sendable {
    /// A picture with its times.
    struct Ordered: Sendable {
        var picture: Picture
        var decodeTime: Int64
        var compositionOffset: Int32
    }

    /// The most pictures that any level of H.264 and H.265 reorders.
    static var greatestDepth: Int { 16 }

    /// How many pictures may be decoded before one that is shown earlier.
    private(set) var depth = 0
    /// Whether the codec can have such pictures at all.
    let mayReorder: Bool
    private var waiting: [(picture: Picture, shown: Int64)] = []
    /// The times of the waiting pictures, rising.
    private var times: [Int64] = []
    /// When the newest pictures are shown, to learn the depth of a stream that does not state it.
    private var recent: [Int64] = []
    private var last: Int64?
    /// A picture that is shown longer than this before one that came earlier has a wrong time.
    private let window: Int64

    init(mayReorder: Bool, clockRate: Int) {
        self.mayReorder = mayReorder
        window = Int64(clockRate) / 2
    }

    /// How many pictures wait.
    var count: Int { waiting.count }

    /// The stream states how many pictures it reorders.
    mutating func recordDepth(_ stated: Int) {
        if mayReorder { depth = max(depth, min(stated, Self.greatestDepth)) }
    }

    /// Adds a picture that is shown at `time`, and hands those to `output` whose decode times are known now.
    mutating func append(_ picture: Picture, shownAt time: Int64, _ output: (Ordered) -> Void) {
        if mayReorder {
            depth = max(depth, recent.count { $0 > time && $0 - time <= window })
            recent.append(time)
            if recent.count > Self.greatestDepth { recent.removeFirst() }
        }
        waiting.append((picture, time))
        times.insert(time, at: times.lastIndex { $0 <= time }.map { $0 + 1 } ?? 0)
        while waiting.count > depth { takeFirst(output) }
    }

    /// Hands out all pictures: nothing follows that has to do with them.
    mutating func flush(_ output: (Ordered) -> Void) {
        while !waiting.isEmpty { takeFirst(output) }
        recent.removeAll(keepingCapacity: true)
    }

    private mutating func takeFirst(_ output: (Ordered) -> Void) {
        let (picture, shown) = waiting.removeFirst()
        let earliest = times.removeFirst()
        let time = last.map { max(earliest, $0 + 1) } ?? earliest
        last = time
        // Without B-frames a picture that would be shown before the one before it is shown right after that.
        let offset = depth == 0 ? 0 : Int32(clamping: shown - time)
        output(Ordered(picture: picture, decodeTime: time, compositionOffset: offset))
    }
}
