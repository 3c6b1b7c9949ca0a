import SRTP
import Testing

@Suite struct RoundTripTests {
    @Test(arguments: SRTPProfile.allCases)
    func aReceiverReadsWhatASenderProtects(profile: SRTPProfile) throws {
        let key = [UInt8](1...16)
        let salt = [UInt8](repeating: 7, count: profile.masterSaltLength)
        var sender = try SRTPSender(profile: profile, masterKey: key, masterSalt: salt)
        var receiver = try SRTPReceiver(profile: profile, masterKey: key, masterSalt: salt)
        let payload = [UInt8]("the payload of a packet".utf8)
        var packet = [UInt8](repeating: 0, count: 12 + payload.count + sender.overhead)
        packet.replaceSubrange(0..<12, with: [0x80, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3])
        let length = packet.withUnsafeMutableBytes { output in
            payload.withUnsafeBytes { payload in
                sender.protectRTP(headerLength: 12, payload: payload, output: output, index: 1)
            }
        }
        #expect(length == packet.count)
        #expect(Array(packet[12..<12 + payload.count]) != payload)
        let (headerLength, range) = try packet.withUnsafeMutableBytes { try receiver.unprotectRTP($0) }
        #expect(headerLength == 12)
        #expect(Array(packet[range]) == payload)
    }
}
