import Foundation
import HomeFakes
import HomeTypes
import Signalling
import Testing
import Transport

@testable import HomeHub

/// Commands whose caller loses the right while they are on the way.
@Suite struct LostRightsTests {
    private static func send(_ command: String, _ body: String, to hub: HomeHub) async -> HomeError.Code? {
        do throws(HomeError) {
            // The right was there when the command came.
            _ = try await hub.send(
                CommandCall(
                    deviceID: "door", trait: "WebRtcLiveView", command: command,
                    caller: Caller(principal: "phone", access: .everything)),
                body: Data(body.utf8))
            return nil
        } catch {
            return error.code
        }
    }

    private static func home(_ liveView: FakeLiveView, now scopes: Set<Caller.Scope>) -> HomeHub {
        HomeHub(
            devices: [.init(id: "door", name: "Front door", kind: .doorbell)], drivers: [FakeCamera("door")],
            signalling: liveView.services, accessOf: { _ in Access([.init(scopes)]) })
    }

    @Test func `a live view that begins while its caller loses the right ends`() async {
        let liveView = FakeLiveView()
        let start = #"{"offerSdp":"v=0\r\n"}"#
        #expect(await Self.send("startLiveView", start, to: Self.home(liveView, now: [.read])) == .permissionDenied)
        #expect(await liveView.list.isEmpty)
        #expect(await liveView.requests.count == 1)
        #expect(await Self.send("startLiveView", start, to: Self.home(liveView, now: [.view])) == nil)
        #expect(await liveView.list.count == 1)
    }

    @Test func `further commands of a request whose caller has lost the right are not applied`() async throws {
        let backend = FakeBackend("lamp")
        let hub = HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services, accessOf: { _ in Access([.init([.read])]) })
        var device = DeviceDescription(id: "lamp", name: "Lamp")
        device.endpoints = [
            EndpointDescription(
                id: 1, types: [OnOffLightDeviceType.self],
                traits: TraitCollection([Matter.OnOffTrait(attributes: .init(onOff: false))]), connectivity: .online)
        ]
        await hub.setDevices([device], drivers: [backend], of: .mqtt)
        // The right was there when the request came.
        let call = CommandCall(
            deviceID: "lamp", trait: "OnOff", command: "on",
            caller: Caller(principal: "phone", access: .everything))
        let results = try await hub.send([(call: call, body: Data("{}".utf8)), (call: call, body: Data("{}".utf8))])
        let codes = results.map { result -> HomeError.Code? in
            if case .failure(let error) = result { error.code } else { nil }
        }
        #expect(codes == [nil, .permissionDenied])
        #expect(backend.commands.withLock { $0 } == ["1 OnOff.on"])
    }

    @Test func `a talk that begins while its caller may only watch any more ends, and the view goes on`() async {
        let liveView = FakeLiveView()
        let hub = Self.home(liveView, now: [.view])
        #expect(await Self.send("startLiveView", #"{"offerSdp":"v=0\r\n"}"#, to: hub) == nil)
        let talk = #"{"mediaSessionId":"session-1"}"#
        #expect(await Self.send("startTalkback", talk, to: hub) == .permissionDenied)
        #expect(await liveView.list.map(\.isTalking) == [false])
        #expect(await Self.send("startTalkback", talk, to: Self.home(liveView, now: [.media])) == nil)
        #expect(await liveView.list.map(\.isTalking) == [true])
    }
}
