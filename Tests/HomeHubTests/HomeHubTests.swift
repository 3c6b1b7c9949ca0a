import Foundation
import HomeFakes
import HomeTypes
import Signalling
import Testing

@testable import HomeHub

@Suite struct HomeHubTests {
    let liveView = FakeLiveView()
    let camera = FakeCamera("door")

    func makeHub() -> HomeHub {
        HomeHub(
            devices: [
                .init(id: "door", name: "Front door", kind: .doorbell),
                .init(id: "yard", name: "Yard", kind: .camera),
            ],
            drivers: [self.camera], liveView: self.liveView, run: "r", now: { Date(timeIntervalSince1970: 1_000) })
    }

    func request(_ device: String = "door", principal: String = "owner") -> StartLiveViewRequest {
        StartLiveViewRequest(deviceID: device, principal: principal, offerSdp: "v=0\r\n")
    }

    @Test func devicesStandInTheOrderOfTheConfigWithTheirRequiredTraits() async {
        let devices = await self.makeHub().devices()
        #expect(devices.map(\.id) == ["door", "yard"])
        for device in devices {
            let present = Set(device.traits.all.map { type(of: $0).identifier })
            #expect(present.isSuperset(of: device.type.type.requiredTraits))
        }
        #expect(devices[0].typeIdentifier == "home.matter.6006.types.0113")
        #expect(devices[0].traits.doorbellPress != nil)
        #expect(devices[1].traits.doorbellPress == nil)
        #expect(devices[0].traits.webRtcLiveView?.supportedTalkbackType == .directly)
        #expect(devices[1].connectivityState == .offline)
    }

    @Test func connectivityFollowsTheSourceAndDoesNotFlickerWhileItRetries() async throws {
        let hub = self.makeHub()
        func state() async throws -> ConnectivityState { try await hub.device("door").connectivityState }
        #expect(try await state() == .unknown)
        await hub.apply(.source(.init(state: .connecting)), deviceID: "door")
        #expect(try await state() == .unknown)
        await hub.apply(FakeCamera.flowing, deviceID: "door")
        #expect(try await state() == .online)
        await hub.apply(.source(.init(state: .backingOff, reason: "no route")), deviceID: "door")
        #expect(try await state() == .offline)
        await hub.apply(.source(.init(state: .connecting)), deviceID: "door")
        #expect(try await state() == .offline)
    }

    @Test func unknownDevicesAreNotFound() async {
        let hub = self.makeHub()
        await #expect(throws: HomeError.self) { try await hub.device("attic") }
        let error = await #expect(throws: HomeError.self) { try await hub.startLiveView(self.request("attic")) }
        #expect(error?.code == .notFound)
    }

    @Test func signallingErrorsBecomeTheRightCodes() {
        let expected: [(SignallingError, HomeError.Code)] = [
            (.invalidOffer("x"), .invalidArgument), (.unknownDevice("x"), .notFound), (.unknownSession, .notFound),
            (.codecMismatch("x"), .failedPrecondition), (.cameraUnavailable("x"), .unavailable),
            (.failedPrecondition("x"), .failedPrecondition), (.talkbackBusy("x"), .failedPrecondition),
            (.limitReached("x"), .resourceExhausted), (.deadlineExceeded("x"), .deadlineExceeded),
            (.internalFault("x"), .internal),
        ]
        for (error, code) in expected { #expect(HomeError(error).code == code) }
    }

    @Test func aSessionIsOnlyForItsOwnerAndItsDevice() async throws {
        let hub = self.makeHub()
        let id = try await hub.startLiveView(self.request()).mediaSessionId
        #expect(await hub.sessions(principal: "owner").count == 1)
        #expect(await hub.sessions(principal: "guest").isEmpty)
        for (device, principal) in [("yard", "owner"), ("door", "guest")] {
            let error = await #expect(throws: HomeError.self) {
                try await hub.extendLiveView(
                    deviceID: device, mediaSessionId: id, principal: principal, extendedDurationSeconds: nil)
            }
            #expect(error?.code == .notFound)
        }
        #expect(
            try await hub.extendLiveView(
                deviceID: "door", mediaSessionId: id, principal: "owner", extendedDurationSeconds: 60) == 60)
        try await hub.stopLiveView(deviceID: "door", mediaSessionId: id, principal: "owner")
        // Ending it again is no error for its owner, and nobody else learns that it has been.
        try await hub.stopLiveView(deviceID: "door", mediaSessionId: id, principal: "owner")
        try await hub.stopTalkback(deviceID: "door", mediaSessionId: id, principal: "owner")
        try await hub.endSession(id, principal: "owner")
        for (device, principal) in [("yard", "owner"), ("door", "guest")] {
            let error = await #expect(throws: HomeError.self) {
                try await hub.stopLiveView(deviceID: device, mediaSessionId: id, principal: principal)
            }
            #expect(error?.code == .notFound)
        }
    }

    @Test func aWatcherHearsTheStateFirstAndThenEveryChange() async throws {
        let hub = self.makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        let initial = [await events.next(), await events.next()].compactMap { $0?.change }
        #expect(
            initial.map { change in
                if case .device(let device) = change { device.id } else { "?" }
            } == ["door", "yard"])

        await hub.apply(FakeCamera.flowing, deviceID: "door")
        guard case .device(let device)? = await events.next()?.change else { throw UnexpectedEvent() }
        #expect(device.connectivityState == .online)
        // The same state again is no change.
        await hub.apply(FakeCamera.flowing, deviceID: "door")
        await hub.apply(.doorbellPressed(.init()), deviceID: "door")
        guard case .doorbellPressed("door", _, _)? = await events.next()?.change else { throw UnexpectedEvent() }
    }

    @Test func aWatcherHearsOfItsOwnSessionsAlone() async throws {
        let hub = self.makeHub()
        var mine = try await hub.changes(principal: "owner").makeAsyncIterator()
        var others = try await hub.changes(principal: "guest").makeAsyncIterator()
        for _ in 0..<2 { _ = (await mine.next(), await others.next()) }

        let id = try await hub.startLiveView(self.request()).mediaSessionId
        await hub.refreshSessions()
        guard case .session(.started, let started)? = await mine.next()?.change else { throw UnexpectedEvent() }
        #expect(started.session.mediaSessionId == id)
        #expect(started.expiresAt == Date(timeIntervalSince1970: 1_300))

        // Counters alone are no news; a step of the start is.
        await self.liveView.change(id) { $0.statistics.packetsSent = 10 }
        await hub.refreshSessions()
        await self.liveView.change(id) { $0.steps.append(.init(name: "pair", milliseconds: 12)) }
        await hub.refreshSessions()
        guard case .session(.changed, let changed)? = await mine.next()?.change else { throw UnexpectedEvent() }
        #expect(changed.session.steps.count == 2)

        await self.liveView.drop(id)
        await hub.refreshSessions()
        guard case .session(.ended, let ended)? = await mine.next()?.change else { throw UnexpectedEvent() }
        #expect(ended.session.state == "ended")

        await hub.sendHeartbeat()
        #expect(await others.next()?.change == .heartbeat)
    }

    @Test func aReturningWatcherIsToldOfThePressesThatItMissed() async throws {
        let hub = self.makeHub()
        var first = try await hub.changes(principal: "owner").makeAsyncIterator()
        await hub.apply(.doorbellPressed(.init(priority: 1)), deviceID: "door")
        var seen: HomeEvent?
        for _ in 0..<3 { seen = await first.next() }
        let place = try #require(seen?.id)
        await hub.apply(.doorbellPressed(.init(priority: 2)), deviceID: "door")

        var second = try await hub.changes(principal: "owner", lastEventID: place).makeAsyncIterator()
        for _ in 0..<2 { _ = await second.next() }
        guard case .doorbellPressed(_, _, let press)? = await second.next()?.change else { throw UnexpectedEvent() }
        #expect(press.priority == 2)

        // Nonsense repeats nothing.
        for place in ["r-", "-", "-7", "", "r-999999999999999999999", "r-x", "r-18446744073709551615"] {
            var third = try await hub.changes(principal: "owner", lastEventID: place).makeAsyncIterator()
            for _ in 0..<2 { _ = await third.next() }
            await hub.sendHeartbeat()
            #expect(await third.next()?.change == .heartbeat, "\(place)")
        }
        // What happened in another run cannot be known: the watcher is told so.
        var fourth = try await hub.changes(principal: "owner", lastEventID: "other-1").makeAsyncIterator()
        for _ in 0..<2 { _ = await fourth.next() }
        guard case .missed? = await fourth.next()?.change else { throw UnexpectedEvent() }
    }

    @Test func theButtonIsPressedThroughTheDriverAndTheRunningHubTellsOfIt() async throws {
        let hub = self.makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        for _ in 0..<2 { _ = await events.next() }
        try await hub.press("door")
        self.camera.finish()
        await hub.run()
        guard case .doorbellPressed("door", let date, let press)? = await events.next()?.change else {
            throw UnexpectedEvent()
        }
        #expect(date == Date(timeIntervalSince1970: 1_000))
        #expect(press.doorbellPressTimeSeconds == 1)
        let error = await #expect(throws: HomeError.self) { try await hub.press("yard") }
        #expect(error?.code == .unimplemented)
    }

    @Test func stoppingEndsTheSessionsOfAllPrincipals() async throws {
        let hub = self.makeHub()
        _ = try await hub.startLiveView(self.request(principal: "owner"))
        _ = try await hub.startLiveView(self.request(principal: "guest"))
        #expect(await hub.endAllSessions() == 2)
        #expect(await self.liveView.sessions().isEmpty)
    }
}

struct UnexpectedEvent: Error {}
