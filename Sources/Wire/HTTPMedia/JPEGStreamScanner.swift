/// Finds the JPEG files in a stream of bytes by their own structure (ITU-T T.81, annex B), and hands each out as soon
/// as its last byte has come.
///
/// Cameras send `multipart/x-mixed-replace` with boundaries other than the announced one, with lengths that are wrong
/// or missing, and without any header between the pictures. A JPEG file says itself where it ends, so none of this is
/// read. A file that is cut off in its coded data is dropped as soon as the next one begins; one that is cut off in a table
/// before that takes some of what follows with it.
public struct JPEGStreamScanner: Sendable {
    private enum State: Sendable, Equatable {
        /// Before a file.
        case outside
        /// Before a marker, after that many bytes of it: none, or 0xFF.
        case marker(seen: Bool)
        /// In the length of a segment, whose first byte may have come.
        case length(high: UInt8?, isScan: Bool)
        /// In a segment.
        case segment(left: Int, isScan: Bool)
        /// In the coded data of a scan; the byte before was 0xFF or not.
        case data(afterFF: Bool)
    }

    /// The longest file, in bytes.
    public let maximumLength: Int
    /// How many files were cut off, too long, or not built as they should be.
    public private(set) var damaged: UInt64 = 0
    private var state = State.outside
    /// The file so far. Before one, the part of its beginning that has come.
    private var file: [UInt8] = []

    /// A scanner that drops files of more than `maximumLength` bytes.
    public init(maximumLength: Int = 4 << 20) {
        self.maximumLength = max(64, maximumLength)
    }

    /// Forgets a file that has not come completely.
    public mutating func reset() {
        state = .outside
        file.removeAll(keepingCapacity: true)
    }

    /// Reads bytes that have arrived, and hands out each file that they complete.
    public mutating func append(_ bytes: UnsafeRawBufferPointer, _ body: ([UInt8]) -> Void) {
        var index = 0
        while index < bytes.count {
            let start = index
            switch state {
            case .segment(let left, let isScan):
                let count = min(left, bytes.count - index)
                index += count
                file.append(contentsOf: bytes[start..<index])
                if count < left {
                    state = .segment(left: left - count, isScan: isScan)
                } else {
                    state = isScan ? .data(afterFF: false) : .marker(seen: false)
                }
            case .data(afterFF: false):
                let end = bytes[index...].firstIndex(of: 0xFF)
                index = end.map { $0 + 1 } ?? bytes.count
                file.append(contentsOf: bytes[start..<index])
                if end != nil { state = .data(afterFF: true) }
            default:
                file.append(bytes[index])
                index += 1
                if step(bytes[start]) {
                    body(file)
                    reset()
                }
            }
            if file.count > maximumLength { drop() }
        }
    }

    /// Reads a byte where single bytes count. Returns whether it completes the file.
    private mutating func step(_ byte: UInt8) -> Bool {
        switch state {
        case .outside: lookForBeginning()
        case .marker(seen: false):
            if byte == 0xFF { state = .marker(seen: true) } else { drop() }
        case .marker(seen: true), .data(afterFF: true): return readMarker(byte)
        case .length(high: nil, let isScan): state = .length(high: byte, isScan: isScan)
        case .length(let high?, let isScan):
            let length = Int(high) << 8 | Int(byte)
            if length < 2 {
                drop()
            } else if length == 2 {
                state = isScan ? .data(afterFF: false) : .marker(seen: false)
            } else {
                state = .segment(left: length - 2, isScan: isScan)
            }
        case .segment, .data(afterFF: false): break
        }
        return false
    }

    /// Keeps what may be the beginning of a file: SOI, and the first byte of the marker after it.
    private mutating func lookForBeginning() {
        switch file.count {
        case 1: if file[0] != 0xFF { file.removeAll(keepingCapacity: true) }
        case 2: if file[1] != 0xD8 { file = file[1] == 0xFF ? [0xFF] : [] }
        default: if file[2] == 0xFF { state = .marker(seen: true) } else { file.removeAll(keepingCapacity: true) }
        }
    }

    private mutating func readMarker(_ code: UInt8) -> Bool {
        switch code {
        // A byte of the data, or a place to start again, inside a scan.
        case 0x00, 0xD0...0xD7:
            if case .data = state { state = .data(afterFF: false) } else { drop() }
        // Any number of these may precede a marker.
        case 0xFF: break
        // TEM has no length.
        case 0x01: state = .marker(seen: false)
        case 0xD8: beginAgain()
        case 0xD9: return true
        case 0xDA: state = .length(high: nil, isScan: true)
        default: state = .length(high: nil, isScan: false)
        }
        return false
    }

    /// A file begins inside another one, which was cut off.
    private mutating func beginAgain() {
        drop()
        file = [0xFF, 0xD8]
    }

    private mutating func drop() {
        damaged &+= 1
        reset()
    }
}
