import DatagramPort
import Transport

/// A run of datagrams to one destination that one system call can send: all of the same size, except the last, which
/// may be shorter (UDP generic segmentation offload).
///
/// The memory belongs to the shard, which uses it for one viewer after the other.
struct SegmentRun {
    /// The kernel's limit on segments (`UDP_MAX_SEGMENTS`).
    static let maximumSegments = 64
    /// The largest UDP payload.
    static let maximumBytes = 65_507

    private let memory: UnsafeMutableRawBufferPointer
    /// How many bytes have been written.
    private(set) var byteCount = 0
    /// The size of every segment except the last.
    private(set) var segmentSize = 0
    /// How many segments have been written.
    private(set) var segments = 0
    private var closed = false

    /// Uses `memory`, which must hold at least ``maximumBytes`` and outlive the run.
    init(memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    /// Whether a datagram of `size` bytes can be added.
    @inline(__always)
    func accepts(_ size: Int) -> Bool {
        if segments == 0 { return size <= memory.count }
        return !closed && size <= segmentSize && segments < Self.maximumSegments
            && byteCount + size <= Self.maximumBytes
    }

    /// Where to write the next datagram.
    @inline(__always)
    var free: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...])
    }

    /// Records that a datagram of `size` bytes has been written at ``free``.
    @inline(__always)
    mutating func add(_ size: Int) {
        if segments == 0 { segmentSize = size }
        if size < segmentSize { closed = true }
        segments += 1
        byteCount += size
    }

    /// What has been written.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<byteCount]) }

    /// Starts again with an empty run.
    @inline(__always)
    mutating func removeAll() {
        byteCount = 0
        segmentSize = 0
        segments = 0
        closed = false
    }
}
