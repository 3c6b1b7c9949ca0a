import Foundation
import Signalling
import Testing

@testable import HomeHub

/// Which changes of a session are reported to its watchers.
@Suite struct SessionNewsTests {
    private let session = LiveViewSnapshot(
        mediaSessionId: "1", deviceID: "door", principal: "owner", state: .connected, expiresInSeconds: 300,
        isTalking: false, codecs: ["VP8"], steps: [], statistics: .init(), notes: [])

    private func isNews(_ change: (inout LiveViewSnapshot) -> Void) -> Bool {
        let now = Date(timeIntervalSince1970: 1_000)
        var changed = session
        change(&changed)
        return SessionSnapshot(changed, now: now).isNews(comparedTo: SessionSnapshot(session, now: now))
    }

    @Test func `a watcher learns that an ICE restart would help`() {
        let isTold = isNews { $0.wantsICERestart = true }
        #expect(isTold)
    }

    @Test func `counters alone are not news`() {
        let isTold = isNews { $0.statistics.packetsSent += 1 }
        #expect(!isTold)
    }

    /// Sessions of an earlier version of the gateway are in the log.
    @Test func `a session without the member does not want a restart`() throws {
        let stored = try JSONEncoder().encode(session)
        let text = try #require(String(bytes: stored, encoding: .utf8))
        #expect(!text.contains("wantsICERestart"))
        let decoded = try JSONDecoder().decode(LiveViewSnapshot.self, from: stored)
        #expect(decoded.wantsICERestart == nil)
    }
}
