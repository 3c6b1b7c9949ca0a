import Testing
import Transport

@Suite("A random source")
struct RandomSourceTests {
    @Test("repeats SplitMix64's published sequence from a seed")
    func isSplitMix64() {
        var random = RandomSource.seeded(1_234_567)
        #expect(
            (0..<5).map { _ in random.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ])
    }

    @Test("makes ICE strings of the alphabet that RFC 8839 allows")
    func makesICECharacters() {
        var random = RandomSource.seeded(3)
        let text = random.iceCharacters(4096)
        #expect(text.utf8.count == 4096)
        #expect(Set(text).count == 64)
        #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/") })
        var system = RandomSource.system
        #expect(system.iceCharacters(24) != system.iceCharacters(24))
    }
}

@Suite("A transmit")
struct TransmitTests {
    @Test(
        "counts its datagrams",
        arguments: [(0, 10, 0), (1, 10, 1), (10, 10, 1), (11, 10, 2), (100, 10, 10), (5, 0, 0), (-1, 10, 0)])
    func countsDatagrams(bytes: Int, segment: Int, expected: Int) {
        let transmit = Transmit(
            destination: TransportAddress(ipv4: 1, port: 1), byteCount: bytes, segmentSize: segment)
        #expect(transmit.datagramCount == expected)
    }
}
