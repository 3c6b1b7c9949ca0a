import Cameras
import MediaRelay
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// Credentials of other lengths than RFC 8839 allows are refused with their line, wherever they come in.
@Suite(.ownThread) struct CredentialLengthTests {
    private static let wrong: [(name: String, value: String)] = [
        ("ice-ufrag", "abc"), ("ice-ufrag", String(repeating: "u", count: 257)),
        ("ice-ufrag", String(repeating: "u", count: 30_000)), ("ice-pwd", String(repeating: "p", count: 21)),
        ("ice-pwd", String(repeating: "p", count: 257)), ("ice-pwd", String(repeating: "p", count: 30_000)),
    ]

    /// The description with another value in every line of this attribute, and the number of the first.
    private func changed(_ path: String, _ name: String, _ value: String) throws -> (text: String, line: Int) {
        var lines = try ServiceWorld.text(path).split(separator: "\r\n", omittingEmptySubsequences: false).map(
            String.init)
        let indices = lines.indices.filter { lines[$0].hasPrefix("a=\(name):") }
        for index in indices { lines[index] = "a=\(name):\(value)" }
        return (lines.joined(separator: "\r\n"), try #require(indices.first) + 1)
    }

    private func expectRefusal(_ error: SignallingError?, line: Int, _ name: String, _ value: String) {
        #expect(error?.kind == .invalid, "\(name) of \(value.utf8.count): \(String(describing: error))")
        let reason = error?.words ?? ""
        #expect(reason.contains("line \(line):") && reason.contains("a=\(name) has \(value.utf8.count) characters"))
        #expect(!reason.contains(value) && reason.utf8.count < 300)
    }

    @Test func offersOfViewersAndPublishersAreRefused() async throws {
        let world = try await ServiceWorld()
        let published = CameraStation(id: "phone", source: PublishedSource(), relay: world.relay)
        await world.signalling.add(published)
        published.start()
        for (name, value) in Self.wrong {
            let viewer = try changed("offers/chromium-talkback-sendrecv-audio.offer.sdp", name, value)
            expectRefusal(await failure { _ = try await world.start(viewer.text) }, line: viewer.line, name, value)
            let publisher = try changed("offers/chromium-sendonly-publish-av.offer.sdp", name, value)
            let error = await failure {
                _ = try await world.publishing.startPublishing(
                    StartLiveViewRequest(deviceID: "phone", principal: "owner", offerSdp: publisher.text))
            }
            expectRefusal(error, line: publisher.line, name, value)
        }
        #expect(await world.viewerCount() == 0)
        published.stop()
    }

    @Test func fragmentsAreRefused() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start().mediaSessionId
        for (name, value) in Self.wrong {
            let credentials = ["ice-ufrag": "abcd", "ice-pwd": String(repeating: "p", count: 22)]
                .merging([name: value]) { $1 }
            for prefix in ["", "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n"] {
                let first = "a=ice-ufrag:\(credentials["ice-ufrag"] ?? "")\r\n"
                let fragment = prefix + first + "a=ice-pwd:\(credentials["ice-pwd"] ?? "")\r\n"
                let line = (prefix.isEmpty ? 0 : 2) + (name == "ice-ufrag" ? 1 : 2)
                let error = await failure {
                    _ = try await world.service.trickle(fragment, SessionReference(session, principal: "owner"))
                }
                expectRefusal(error, line: line, name, value)
            }
        }
        // The longest that are allowed are accepted.
        let longest =
            "a=ice-ufrag:\(String(repeating: "u", count: 256))\r\n"
            + "a=ice-pwd:\(String(repeating: "p", count: 256))\r\n"
        guard case .restarted = try await world.service.trickle(longest, SessionReference(session, principal: "owner"))
        else {
            Issue.record("credentials of 256 characters")
            return
        }
    }
}
