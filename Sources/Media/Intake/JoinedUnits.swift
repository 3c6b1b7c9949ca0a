import RTP

/// NAL units that an encoder has joined by start codes (ITU-T H.264, annex B) and that a camera has put into one
/// payload unchanged: the parts between the start codes. A payload without start codes is one part.
///
/// A NAL unit cannot contain a start code (section 7.4.1), so bytes that look like one are one.
struct JoinedUnits: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// Whether a start code follows the last part.
    private(set) var isFollowed = false

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The next part that is not empty, without the zeros that may come before a start code.
    mutating func next() -> UnsafeRawBufferPointer? {
        while offset < bytes.count {
            let start = offset
            let code = Self.startCode(in: bytes, from: start)
            isFollowed = code != nil
            offset = code.map { $0 + 3 } ?? bytes.count
            var end = code ?? bytes.count
            if code != nil { while end > start, bytes[end - 1] == 0 { end -= 1 } }
            if end > start { return UnsafeRawBufferPointer(rebasing: bytes[start..<end]) }
        }
        return nil
    }

    /// Where the next `00 00 01` is.
    static func startCode(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        while index + 2 < bytes.count {
            // The third byte decides how far to skip: it rules out a start code at the positions before.
            switch bytes[index + 2] {
            case 0: index += 1
            case 1 where bytes[index] == 0 && bytes[index + 1] == 0: return index
            default: index += 3
            }
        }
        return nil
    }
}

/// The fragments of a unit that is not a slice, assembled as far as needed to see what is joined to it. Some cameras
/// fragment a whole key frame, with its start codes, as if it were one long parameter set.
struct JoinedFragments {
    enum State {
        /// No such unit is in progress.
        case none
        /// The fragments so far are kept.
        case collecting
        /// A slice has been reached: the following bytes belong to it.
        case passing
        /// A part was lost, or the unit is longer than any parameter set.
        case lost
    }

    private(set) var state = State.none
    private var bytes: [UInt8] = []

    /// Far more than all parameter sets of a stream and a message together.
    private static let maximumSize = 16 * 1024
    /// This many bytes of a slice show what kind of picture it begins.
    private static let sliceBeginning = 16

    /// A unit begins with this byte.
    mutating func begin(_ header: UInt8) {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(header)
        state = .collecting
    }

    /// Ends the unit in progress, if any.
    mutating func end() {
        bytes.removeAll(keepingCapacity: true)
        state = .none
    }

    /// A part is missing.
    mutating func lose() {
        if state != .none { state = .lost }
    }

    /// Adds bytes, and takes out what is complete: whole units, and the beginning of a slice. After that the rest is
    /// passed on as it comes.
    mutating func append(_ more: UnsafeRawBufferPointer, isLast: Bool) -> (units: [[UInt8]], slice: [UInt8]?) {
        bytes.append(contentsOf: more)
        var units: [[UInt8]] = []
        var slice: [UInt8]?
        var kept: [UInt8] = []
        bytes.withUnsafeBytes { all in
            var parts = JoinedUnits(all)
            while let unit = parts.next() {
                let isWhole = parts.isFollowed || isLast
                if (1...5).contains(unit[0] & 0x1F), unit.count >= Self.sliceBeginning || isWhole {
                    // A start code inside the slice is left to the decoder, which also recognizes it.
                    let start = unit.startOffset(in: all)
                    slice = Array(all[start...])
                    return
                }
                if isWhole { units.append(Array(unit)) } else { kept = [0, 0, 1] + unit }
            }
            // The start code of the next unit, or its first zeros.
            if !isLast, kept.isEmpty { kept = Array(all.suffix(3)) }
        }
        bytes = kept
        if slice != nil {
            state = .passing
        } else if bytes.count > Self.maximumSize {
            bytes.removeAll()
            state = .lost
        }
        return (units, slice)
    }
}

extension UnsafeRawBufferPointer {
    /// The offset of this part from the beginning of `whole`.
    fileprivate func startOffset(in whole: UnsafeRawBufferPointer) -> Int {
        guard let own = baseAddress, let base = whole.baseAddress else { return 0 }
        return own - base
    }
}
