import Transport

/// A value of Action Message Format 0 (Adobe AMF 0 Specification), as far as RTMP's commands need it.
enum AMF0Value: Equatable, Sendable {
    /// A field of an object.
    struct Field: Equatable, Sendable {
        var name: String
        var value: AMF0Value
    }

    case number(Double)
    case boolean(Bool)
    case string(String)
    case object([Field])
    /// A strict array.
    case list([AMF0Value])
    case null
    /// A value that is not looked at.
    case other

    /// A field of an object, as text.
    func text(of name: String) -> String? {
        guard case .object(let fields) = self, case .string(let text)? = fields.first(where: { $0.name == name })?.value
        else { return nil }
        return text
    }
}

/// Reads values of AMF0. It reads no more than some thousand of them, and no deeper than some levels.
struct AMF0Reader {
    private var reader: ByteReader
    private var budget = 4096
    private static let maximumDepth = 8

    init(_ bytes: UnsafeRawBufferPointer) { reader = ByteReader(bytes) }

    /// The first values of a message: no more than `limit`, and none behind damaged bytes.
    static func values(of bytes: [UInt8], limit: Int = 8) -> [AMF0Value] {
        bytes.withUnsafeBytes { raw in
            var reader = AMF0Reader(raw)
            var values: [AMF0Value] = []
            while values.count < limit, let value = reader.next() { values.append(value) }
            return values
        }
    }

    /// The next value; nil at the end, and where the bytes are damaged.
    mutating func next() -> AMF0Value? { value(depth: 0) }

    private mutating func value(depth: Int) -> AMF0Value? {
        budget -= 1
        guard budget > 0, depth < Self.maximumDepth, let marker = reader.readUInt8() else { return nil }
        switch marker {
        case 0x00:
            guard let bits: UInt64 = reader.read() else { return nil }
            return .number(Double(bitPattern: bits))
        case 0x01: return reader.readUInt8().map { .boolean($0 != 0) }
        case 0x02: return text().map { .string($0) }
        case 0x03: return fields(depth: depth).map { .object($0) }
        case 0x05, 0x06: return .null
        case 0x08:
            // The number of fields is only a hint.
            guard reader.skip(4) else { return nil }
            return fields(depth: depth).map { .object($0) }
        case 0x0A:
            guard let count: UInt32 = reader.read() else { return nil }
            var values: [AMF0Value] = []
            for _ in 0..<count {
                guard let value = value(depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .list(values)
        case 0x0B: return reader.skip(10) ? .other : nil
        case 0x0C:
            guard let length: UInt32 = reader.read(), reader.skip(Int(length)) else { return nil }
            return .other
        default: return nil
        }
    }

    private mutating func text() -> String? {
        guard let length: UInt16 = reader.read(), let bytes = reader.readBytes(Int(length)) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func fields(depth: Int) -> [AMF0Value.Field]? {
        var fields: [AMF0Value.Field] = []
        while let name = text() {
            if name.isEmpty {
                // The end of the object: an empty name and its marker.
                return reader.readUInt8() == 0x09 ? fields : nil
            }
            guard let value = value(depth: depth + 1) else { return nil }
            fields.append(.init(name: name, value: value))
        }
        return nil
    }
}

extension [AMF0Value] {
    /// The values as bytes.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for value in self { Self.write(value, &bytes) }
        return bytes
    }

    private static func write(_ value: AMF0Value, _ bytes: inout [UInt8]) {
        switch value {
        case .number(let number):
            bytes.append(0x00)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number.bitPattern >> UInt64(shift)))
            }
        case .boolean(let flag): bytes += [0x01, flag ? 1 : 0]
        case .string(let text):
            bytes.append(0x02)
            write(text, &bytes)
        case .object(let fields):
            bytes.append(0x03)
            for field in fields {
                write(field.name, &bytes)
                write(field.value, &bytes)
            }
            bytes += [0, 0, 0x09]
        case .list(let values):
            bytes.append(0x0A)
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: values.count >> shift)) }
            for value in values { write(value, &bytes) }
        case .null, .other: bytes.append(0x05)
        }
    }

    private static func write(_ text: String, _ bytes: inout [UInt8]) {
        let content = Array<UInt8>(text.utf8.prefix(Int(UInt16.max)))
        bytes += [UInt8(truncatingIfNeeded: content.count >> 8), UInt8(truncatingIfNeeded: content.count)]
        bytes += content
    }
}
