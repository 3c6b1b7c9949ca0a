@testable import SRTP

extension [UInt8] {
    /// Reads hexadecimal digits; spaces and line ends between them are for the eye.
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// The keys of a test and the packets made from them.
enum TestKeys {
    static let masterKey = [UInt8](hex: "E1F97A0D3E018BE0D64FA32C06DE4139")

    static func masterSalt(_ profile: SRTPProfile) -> [UInt8] {
        Array([UInt8](hex: "0EC675AD498AFEEBB6960B3AABE6").prefix(profile.masterSaltLength))
    }

    static func sender(_ profile: SRTPProfile) throws -> SRTPSender {
        try SRTPSender(profile: profile, masterKey: masterKey, masterSalt: masterSalt(profile))
    }

    static func receiver(_ profile: SRTPProfile) throws -> SRTPReceiver {
        try SRTPReceiver(profile: profile, masterKey: masterKey, masterSalt: masterSalt(profile))
    }
}

/// An RTP header of 12 bytes.
func rtpHeader(_ sequenceNumber: UInt16, source: UInt32, first: UInt8 = 0x80) -> [UInt8] {
    [first, 96, UInt8(sequenceNumber >> 8), UInt8(sequenceNumber & 0xFF), 0, 0, 0, 9]
        + withUnsafeBytes(of: source.bigEndian) { Array($0) }
}

/// A receiver report without blocks, followed by `count` bytes.
func rtcpPacket(source: UInt32, count: Int = 0) -> [UInt8] {
    [0x80, 201, 0, 1] + withUnsafeBytes(of: source.bigEndian) { Array($0) } + [UInt8](repeating: 0x5A, count: count)
}

extension SRTPSender {
    /// Protects a packet given as arrays.
    mutating func protect(header: [UInt8], payload: [UInt8], index: UInt64) -> [UInt8] {
        var output = header + [UInt8](repeating: 0xEE, count: payload.count + overhead)
        let count = output.withUnsafeMutableBytes { output in
            payload.withUnsafeBytes { payload in
                protectRTP(headerLength: header.count, payload: payload, output: output, index: index)
            }
        }
        return Array(output.prefix(count))
    }

    /// Protects an RTCP packet given as an array.
    mutating func protectRTCP(_ packet: [UInt8]) -> [UInt8] {
        var output = packet + [UInt8](repeating: 0xEE, count: rtcpOverhead)
        let count = output.withUnsafeMutableBytes { protectRTCP(packet: $0, count: packet.count) }
        return Array(output.prefix(count))
    }
}

extension SRTPReceiver {
    /// The plain packet, header and payload.
    mutating func unprotect(_ packet: [UInt8]) throws(SRTPError) -> [UInt8] {
        var copy = packet
        let result = copy.withUnsafeMutableBytes { bytes -> Result<Range<Int>, SRTPError> in
            do throws(SRTPError) {
                return .success(try unprotectRTP(bytes).payload)
            } catch {
                return .failure(error)
            }
        }
        return Array(copy[..<(try result.get().upperBound)])
    }

    /// The plain RTCP packet.
    mutating func unprotectRTCP(_ packet: [UInt8]) throws(SRTPError) -> [UInt8] {
        var copy = packet
        let result = copy.withUnsafeMutableBytes { bytes -> Result<Int, SRTPError> in
            do throws(SRTPError) {
                return .success(try unprotectRTCP(bytes))
            } catch {
                return .failure(error)
            }
        }
        return Array(copy[..<(try result.get())])
    }
}
