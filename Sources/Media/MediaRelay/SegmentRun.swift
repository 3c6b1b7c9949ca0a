import DatagramPort
import Transport

/// A run of datagrams for one destination that one system call can send: all of equal size but the last, which may be
/// shorter (UDP generic segmentation offload).
///
/// The memory belongs to the shard and serves one viewer after the other.
struct SegmentRun {
    /// The kernel's bound on segments (`UDP_MAX_SEGMENTS`).
    static let maximumSegments = 64
    /// The largest UDP payload.
    static let maximumBytes = 65_507

    private let memory: UnsafeMutableRawBufferPointer
    /// How many bytes have been written.
    private(set) var byteCount = 0
    /// The size of every segment but the last.
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

    /// Where the next datagram is to be written.
    @inline(__always)
    var free: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...])
    }

    /// Notes that a datagram of `size` bytes has been written at ``free``.
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
