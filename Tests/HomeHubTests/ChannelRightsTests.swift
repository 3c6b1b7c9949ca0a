import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub
@testable import Signalling

@Suite struct ChannelRightsTests {
    @Test func `a command on a data channel has the rights that its principal has now`() async throws {
        let hub = HomeHub(
            devices: [.init(id: "door", name: "Front door", kind: .doorbell)], drivers: [],
            signalling: FakeLiveView().services,
            accessOf: { $0 == "link" ? Access([.init([.view], deviceID: "door")]) : .nothing })
        func status(_ name: String, by principal: String) async -> String? {
            let command = ChannelCommand(
                mediaSessionId: "session-1", deviceID: "door", principal: principal, name: name,
                parameters: Data(#"{"mediaSessionId":"session-1"}"#.utf8))
            guard case .failure(let refusal) = await hub.apply(command) else { return nil }
            return refusal.status
        }
        #expect(await status("startTalkback", by: "link") == "PERMISSION_DENIED")
        #expect(await status("stopLiveView", by: "link") != "PERMISSION_DENIED")
        // Somebody whose token was revoked does not know the device any more.
        #expect(await status("stopLiveView", by: "somebody") == "NOT_FOUND")
    }
}
