import Foundation
import PushAvStreamTransport

/// The segments of a recording in few bytes: differences from the segment before, as integers of variable length (LEB128,
/// with the sign in the lowest bit). A segment takes about eleven bytes.
enum PackedSegments {
    private static let version: UInt8 = 1

    /// Packs segments, which are ordered by track and number.
    static func pack(_ segments: [StoredSegment]) -> Data {
        var bytes: [UInt8] = [Self.version]
        bytes.reserveCapacity(segments.count * 12 + 1)
        var previous = StoredSegment(track: 0, number: 0, decodeTime: 0, duration: 0, wallTime: 0, byteCount: 0)
        for segment in segments {
            Self.write(Int64(segment.track - previous.track), &bytes)
            Self.write(Int64(segment.number) - Int64(previous.number), &bytes)
            // What follows without a gap begins where the one before it ended.
            Self.write(segment.decodeTime &- previous.decodeTime &- previous.duration, &bytes)
            Self.write(segment.duration &- previous.duration, &bytes)
            Self.write(segment.wallTime &- previous.wallTime, &bytes)
            Self.write(segment.byteCount &- previous.byteCount, &bytes)
            previous = segment
        }
        return Data(bytes)
    }

    /// Unpacks segments, as far as the bytes go. Those of another version give none.
    static func unpack(_ data: Data) -> [StoredSegment] {
        data.withUnsafeBytes { bytes in
            guard bytes.first == Self.version else { return [] }
            var segments: [StoredSegment] = []
            segments.reserveCapacity(bytes.count / 8)
            var offset = 1
            var previous = StoredSegment(track: 0, number: 0, decodeTime: 0, duration: 0, wallTime: 0, byteCount: 0)
            while offset < bytes.count {
                guard let track = Self.read(bytes, &offset), let number = Self.read(bytes, &offset),
                    let time = Self.read(bytes, &offset), let duration = Self.read(bytes, &offset),
                    let wallTime = Self.read(bytes, &offset), let byteCount = Self.read(bytes, &offset)
                else { return segments }
                previous = StoredSegment(
                    track: Int(truncatingIfNeeded: Int64(previous.track) &+ track),
                    number: UInt32(truncatingIfNeeded: Int64(previous.number) &+ number),
                    decodeTime: previous.decodeTime &+ previous.duration &+ time,
                    duration: previous.duration &+ duration, wallTime: previous.wallTime &+ wallTime,
                    byteCount: previous.byteCount &+ byteCount)
                segments.append(previous)
            }
            return segments
        }
    }

    private static func write(_ value: Int64, _ bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Int64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count, shift < 64 {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
            shift += 7
        }
        return nil
    }
}
