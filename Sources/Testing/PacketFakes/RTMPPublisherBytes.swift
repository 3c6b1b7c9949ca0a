/// Writes what an RTMP client sends that publishes H.264 and AAC (Adobe RTMP Specification 1.0).
public struct RTMPPublisherBytes: Sendable {
    /// A value of a command (Adobe AMF 0 Specification).
    public enum Value: Sendable {
        case number(Double)
        case text(String)
        case object([(name: String, value: Value)])
        case list([Value])
        case null
    }

    /// What has been written.
    public private(set) var bytes: [UInt8] = []
    /// The longest chunk; 128 until something else has been announced.
    private var chunkSize = 128

    /// The version, C1 and C2.
    public static let handshake: [UInt8] = {
        var bytes: [UInt8] = [3] + [UInt8](repeating: 0, count: 8)
        for index in 8..<1536 { bytes.append(UInt8(truncatingIfNeeded: index)) }
        return bytes + [UInt8](repeating: 7, count: 1536)
    }()
    /// What `avcC` holds: one parameter set of each kind, and lengths of four bytes.
    public static let configuration: [UInt8] = [
        1, 0x42, 0xC0, 30, 0xFF, 0xE1, 0, 5, 0x67, 0x42, 0xC0, 30, 1, 1, 0, 3, 0x68, 1, 2,
    ]
    /// AAC-LC, 48 kHz, mono.
    public static let audioConfiguration: [UInt8] = [0x11, 0x88]

    /// Begins with nothing, or with the handshake.
    public init(handshake: Bool = true) {
        if handshake { bytes = Self.handshake }
    }

    /// Adds bytes as they are.
    public mutating func raw(_ content: [UInt8]) { bytes += content }

    /// Adds a message.
    /// - Parameters:
    ///   - channel: the chunk stream, 2 to 63.
    ///   - repeatsExtended: whether the chunks behind the first one have the extended timestamp too, as they should.
    public mutating func message(
        _ type: UInt8, _ content: [UInt8], time: UInt32 = 0, stream: UInt8 = 1, channel: UInt8 = 4,
        repeatsExtended: Bool = true
    ) {
        let isExtended = time >= 0xFF_FFFF
        let extended = isExtended ? Self.big(time, 4) : []
        bytes += [channel] + Self.big(isExtended ? 0xFF_FFFF : time, 3) + Self.big(UInt32(content.count), 3)
        bytes += [type, stream, 0, 0, 0] + extended
        for start in stride(from: 0, to: content.count, by: chunkSize) {
            if start > 0 { bytes += [0xC0 | channel] + (repeatsExtended ? extended : []) }
            bytes += content[start..<min(start + chunkSize, content.count)]
        }
    }

    /// Announces the length of the chunks that follow.
    public mutating func setChunkSize(_ size: Int) {
        message(1, Self.big(UInt32(size), 4), stream: 0, channel: 2)
        chunkSize = size
    }

    /// Adds a command.
    public mutating func command(_ name: String, _ transaction: Double, _ values: [Value] = [], stream: UInt8 = 0) {
        let all: [Value] = [.text(name), .number(transaction)] + values
        message(20, all.flatMap { Self.encoded($0) }, stream: stream, channel: 3)
    }

    /// Connects to an application. `codecs` are those of enhanced RTMP.
    public mutating func connect(to application: String, codecs: [String] = []) {
        var fields: [(name: String, value: Value)] = [
            ("app", .text(application)), ("flashVer", .text("FMLE/3.0 (compatible; test)")),
            ("tcUrl", .text("rtmp://gateway/\(application)")),
        ]
        if !codecs.isEmpty { fields.append(("fourCcList", .list(codecs.map { .text($0) }))) }
        command("connect", 1, [.object(fields)])
    }

    /// Asks to publish, as encoders do.
    public mutating func publish(_ name: String) {
        command("releaseStream", 2, [.null, .text(name)])
        command("FCPublish", 3, [.null, .text(name)])
        command("createStream", 4, [.null])
        command("publish", 5, [.null, .text(name), .text("live")], stream: 1)
    }

    /// States which kinds of tracks will come.
    public mutating func metadata(video: Bool = true, audio: Bool = true) {
        var fields: [(name: String, value: Value)] = [("encoder", .text("test"))]
        if video { fields.append(("videocodecid", .number(7))) }
        if audio { fields.append(("audiocodecid", .number(10))) }
        let values: [Value] = [.text("@setDataFrame"), .text("onMetaData"), .object(fields)]
        message(18, values.flatMap { Self.encoded($0) })
    }

    /// Describes the picture.
    public mutating func describeVideo() { message(9, [0x17, 0, 0, 0, 0] + Self.configuration, channel: 6) }

    /// Describes the sound.
    public mutating func describeAudio() { message(8, [0xAF, 0] + Self.audioConfiguration, channel: 4) }

    /// Adds a picture of some bytes; every one is a key frame.
    public mutating func picture(at time: UInt32, length: Int = 4, repeatsExtended: Bool = true) {
        let unit: [UInt8] = [0x65, 0x88] + [UInt8](repeating: 9, count: max(0, length - 2))
        message(
            9, [0x17, 1, 0, 0, 0] + Self.big(UInt32(unit.count), 4) + unit, time: time, channel: 6,
            repeatsExtended: repeatsExtended)
    }

    /// Adds a frame of sound.
    public mutating func sound(at time: UInt32) { message(8, [0xAF, 1, 5, 6, 7], time: time, channel: 4) }

    /// Stops publishing, as encoders do.
    public mutating func unpublish(_ name: String) {
        command("FCUnpublish", 6, [.null, .text(name)])
        command("deleteStream", 7, [.null, .number(1)])
    }

    private static func big(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * (count - 1 - $0))) }
    }

    private static func text(_ text: String) -> [UInt8] { big(UInt32(text.utf8.count), 2) + Array(text.utf8) }

    private static func encoded(_ value: Value) -> [UInt8] {
        switch value {
        case .number(let number):
            let bits = number.bitPattern
            return [0] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * (7 - $0))) }
        case .text(let content): return [2] + text(content)
        case .object(let fields):
            var bytes: [UInt8] = [3]
            for field in fields { bytes += text(field.name) + encoded(field.value) }
            return bytes + [0, 0, 9]
        case .list(let values):
            var bytes = [0x0A] + big(UInt32(values.count), 4)
            for value in values { bytes += encoded(value) }
            return bytes
        case .null: return [5]
        }
    }
}
