import Testing
import Transport

@testable import RTSP

@Suite struct RequiredFeatureTests {
    private static func harness(onlyDescription: Bool) throws -> ClientHarness {
        let harness = try ClientHarness()
        var configuration = RTSPClient.Configuration()
        configuration.require = RTSPFeature.backChannel
        configuration.requiresOnlyDescription = onlyDescription
        harness.client = RTSPClient(
            url: try RTSPURL(parsing: "rtsp://cam/live"), configuration: configuration, random: .seeded(1))
        harness.client.start(at: harness.now)
        return harness
    }

    @Test func aRequiredFeatureIsNamedInDescribeSetUpAndPlay() throws {
        let harness = try Self.harness(onlyDescription: false)
        _ = try harness.answer(.options)
        let describe = try #require(try harness.request())
        #expect(describe.headers["Require"] == "www.onvif.org/ver20/backchannel")
        _ = try harness.receive(Array("RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: 5\r\n\r\nv=0\r\n".utf8))
        harness.client.setUp(["rtsp://cam/live/1"], at: harness.now)
        let setUp = try #require(try harness.request())
        #expect(setUp.headers["Require"] == "www.onvif.org/ver20/backchannel")
        _ = try harness.receive(Array("RTSP/1.0 200 OK\r\nCSeq: 3\r\nSession: 1\r\n\r\n".utf8))
        #expect(try #require(try harness.request()).headers["Require"] == "www.onvif.org/ver20/backchannel")
    }

    @Test func aFeatureThatMustBeThereFailsWithoutIt() throws {
        let harness = try Self.harness(onlyDescription: false)
        _ = try harness.answer(.options)
        #expect(throws: RTSPError.refused(method: .describe, status: 551, reason: "")) {
            _ = try harness.answer(.describe, 551)
        }
    }

    @Test(arguments: [551, 400, 404, 501]) func aFeatureThatIsOnlyLookedForIsGivenUp(status: Int) throws {
        let harness = try Self.harness(onlyDescription: true)
        _ = try harness.answer(.options)
        #expect(try harness.answer(.describe, status) == [.featureRefused(status: status)])
        let again = try #require(try harness.request())
        #expect(again.method == "DESCRIBE")
        #expect(again.headers["Require"] == nil)
        let answer = "RTSP/1.0 200 OK\r\nCSeq: \(again.headers["CSeq"] ?? "")\r\nContent-Length: 5\r\n\r\nv=0\r\n"
        #expect(try harness.receive(Array(answer.utf8)).count == 1)
        harness.client.setUp(["rtsp://cam/live/1"], at: harness.now)
        #expect(try #require(try harness.request()).headers["Require"] == nil)
    }
}
