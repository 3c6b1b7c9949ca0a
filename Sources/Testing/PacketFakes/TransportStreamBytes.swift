import StreamFormats

/// Writes an MPEG transport stream with one picture in each of its packets (ISO/IEC 13818-1).
public struct TransportStreamBytes: Sendable {
    /// A stream of a program.
    public struct Stream: Sendable {
        /// Its packet identifier, 32 to 8190.
        public var identifier: UInt16
        /// Its type.
        public var type: UInt8

        /// Names both.
        public init(identifier: UInt16, type: UInt8) {
            self.identifier = identifier
            self.type = type
        }
    }

    /// H.264 and AAC, as cameras send them.
    public static let camera = [Stream(identifier: 256, type: 0x1B), Stream(identifier: 257, type: 0x0F)]

    /// What has been written.
    public private(set) var bytes: [UInt8] = []
    private var counters: [UInt16: UInt8] = [:]

    /// Begins with the tables of these streams.
    public init(_ streams: [Stream] = TransportStreamBytes.camera) {
        let map: UInt16 = 4096
        section(0, identifier: 0, [0, 1, 0xE0 | UInt8(map >> 8), UInt8(map & 0xFF)])
        var body: [UInt8] = [0xE1, 0x00, 0xF0, 0x00]
        for stream in streams {
            body += [stream.type, 0xE0 | UInt8(stream.identifier >> 8), UInt8(stream.identifier & 0xFF), 0xF0, 0]
        }
        section(2, identifier: map, body)
    }

    /// Adds a packet of a stream, with its times of 33 bits.
    public mutating func unit(_ content: [UInt8], of identifier: UInt16, presentation: Int64, decoding: Int64? = nil) {
        var header: [UInt8] = [0, 0, 1, 0xE0, 0, 0, 0x80, decoding == nil ? 0x80 : 0xC0, decoding == nil ? 5 : 10]
        header += Self.timestamp(presentation, mark: decoding == nil ? 2 : 3)
        if let decoding { header += Self.timestamp(decoding, mark: 1) }
        packets(header + content, identifier: identifier)
    }

    /// Leaves out what would follow: the next packet of the stream has a gap before it.
    public mutating func lose(of identifier: UInt16) {
        counters[identifier] = ((counters[identifier] ?? 15) + 1) & 15
    }

    /// A frame of AAC-LC with its ADTS header, 48 kHz, mono.
    public static func adts(_ frame: [UInt8]) -> [UInt8] {
        let length = frame.count + 7
        return [
            0xFF, 0xF1, 0x4C, 0x40 | UInt8(length >> 11), UInt8(length >> 3 & 0xFF), UInt8(length & 7) << 5 | 0x1F,
            0xFC,
        ] + frame
    }

    private static func timestamp(_ value: Int64, mark: UInt8) -> [UInt8] {
        func byte(_ shift: Int64) -> UInt8 { UInt8(truncatingIfNeeded: value >> shift) }
        return [mark << 4 | (byte(30) & 7) << 1 | 1, byte(22), byte(14) | 1, byte(7), byte(0) << 1 | 1]
    }

    private mutating func section(_ table: UInt8, identifier: UInt16, _ body: [UInt8]) {
        let length = body.count + 9
        var section: [UInt8] = [table, 0xB0 | UInt8(length >> 8), UInt8(length & 0xFF), 0, 1, 0xC1, 0, 0] + body
        let checksum = TransportTables.checksum(section)
        section += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: checksum >> UInt32($0)) }
        packets([0] + section, identifier: identifier, isSection: true)
    }

    private mutating func packets(_ content: [UInt8], identifier: UInt16, isSection: Bool = false) {
        var rest = content[...]
        var isFirst = true
        while !rest.isEmpty {
            let counter = ((counters[identifier] ?? 15) + 1) & 15
            counters[identifier] = counter
            let start: UInt8 = isFirst ? 0x40 : 0
            isFirst = false
            let count = min(184, rest.count)
            let filling = 184 - count
            let isFilled = filling > 0 && !isSection
            bytes += [
                0x47, start | UInt8(identifier >> 8), UInt8(identifier & 0xFF), (isFilled ? 0x30 : 0x10) | counter,
            ]
            if isFilled {
                bytes.append(UInt8(filling - 1))
                if filling > 1 { bytes += [0] + [UInt8](repeating: 0xFF, count: filling - 2) }
            }
            bytes += rest.prefix(count)
            if isSection { bytes += [UInt8](repeating: 0xFF, count: filling) }
            rest = rest.dropFirst(count)
        }
    }
}
