import Foundation
import HomeFakes
import HomeTypes
import SDP
import Signalling
import Testing
import Transport

@testable import HomeHub

@Suite struct HomeHubTests {
    let liveView = FakeLiveView()
    let camera = FakeCamera("door")

    func makeHub(yardHasCamera: Bool = false) -> HomeHub {
        HomeHub(
            devices: [
                .init(id: "door", name: "Front door", kind: .doorbell),
                .init(id: "yard", name: "Yard", kind: .camera),
            ],
            drivers: yardHasCamera ? [camera, FakeCamera("yard")] : [camera], signalling: liveView.services,
            log: ChangeLog(MemoryStore(log: "r")),
            now: { Date(timeIntervalSince1970: 1_000) })
    }

    /// Sends a command of the live view.
    @discardableResult
    func send(
        _ command: String, _ body: String, to hub: HomeHub, device: String = "door", principal: String = "owner"
    ) async throws -> Data {
        try await hub.send(
            CommandCall(
                deviceID: device, trait: "WebRtcLiveView", command: command, caller: Caller(principal: principal)),
            body: Data(body.utf8))
    }

    /// Starts a live view, and returns the session's identifier.
    func start(_ hub: HomeHub, principal: String = "owner") async throws -> String {
        let result = try await send("startLiveView", #"{"offerSdp":"v=0"}"#, to: hub, principal: principal)
        return try JSONDecoder().decode(Google.WebRtcLiveViewTrait.StartLiveViewCommand.Response.self, from: result)
            .mediaSessionId
    }

    @Test func `a device that another gateway runs gets no command from this one`() async throws {
        let isOurs = Locked(true)
        let hub = HomeHub(
            devices: [.init(id: "door", name: "Front door", kind: .doorbell)], drivers: [camera],
            signalling: liveView.services, mayAct: { _ in isOurs.withLock { $0 } })
        _ = try await start(hub)
        isOurs.withLock { $0 = false }
        let error = await #expect(throws: HomeError.self) { _ = try await start(hub) }
        #expect(error == .unavailable("another gateway of the home runs device door"))
    }

    @Test func aSpeakerThatIsFoundLaterIsShown() async throws {
        let camera = FakeCamera("door", hasSpeaker: false)
        let hub = HomeHub(
            devices: [.init(id: "door", name: "Front door", kind: .doorbell)], drivers: [camera],
            signalling: liveView.services)
        let trait = Google.WebRtcLiveViewTrait.self
        #expect(try await hub.device("door").traits[trait]?.supportedTalkbackType == nil)
        camera.findSpeaker()
        #expect(try await hub.device("door").traits[trait]?.supportedTalkbackType == .directly)
    }

    @Test func devicesAreInTheOrderOfTheConfigWithTheirRequiredTraits() async {
        let devices = await makeHub().devices()
        #expect(devices.map(\.id) == ["door", "yard"])
        for device in devices {
            let type = Vocabulary.deviceType(named: device.type)
            for trait in type?.requiredTraits ?? [] {
                let isPresent = device.traits.contains(trait)
                #expect(isPresent, "\(device.id) lacks \(trait.name)")
            }
        }
        #expect(devices[0].typeIdentifier == "home.matter.6006.types.0113")
        #expect(devices[0].traits[Google.DoorbellPressTrait.self] != nil)
        #expect(devices[1].traits[Google.DoorbellPressTrait.self] == nil)
        #expect(devices[0].traits[Google.WebRtcLiveViewTrait.self]?.supportedTalkbackType == .directly)
        #expect(devices[1].connectivityState == .offline)
    }

    @Test func connectivityFollowsTheSourceAndDoesNotFlickerWhileItRetries() async throws {
        let hub = makeHub()
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
        let hub = makeHub()
        await #expect(throws: HomeError.self) { try await hub.device("attic") }
        let error = await #expect(throws: HomeError.self) {
            try await send("startLiveView", #"{"offerSdp":"v=0"}"#, to: hub, device: "attic")
        }
        #expect(error?.code == .notFound)
    }

    @Test func signallingErrorsBecomeTheRightCodes() {
        let expected: [(SignallingError, HomeError.Code)] = [
            (.unusableCredentials(.password(.length(0)), line: 1), .invalidArgument), (.unknownDevice("x"), .notFound),
            (.unknownSession, .notFound), (.foreignClip, .permissionDenied),
            (
                .refusedOffer(OfferRefusal(.playsNothing(camera: "door", media: [], faults: []), line: nil)),
                .failedPrecondition
            ),
            (.stopped(device: "x"), .unavailable), (.noMicrophone, .failedPrecondition),
            (.floorTaken(device: "x", by: .session), .failedPrecondition),
            (.limitReached(.principal("x", views: 1)), .resourceExhausted),
            (.publishersChangeTooOften(device: "x", wait: .seconds(1)), .resourceExhausted),
            (.noMediaBeforeDeadline(device: "x"), .deadlineExceeded), (.noTalkThread, .internal),
        ]
        for (error, code) in expected { #expect(HomeError(error).code == code) }
    }

    @Test func aSessionIsOnlyForItsOwnerAndItsDevice() async throws {
        let hub = makeHub(yardHasCamera: true)
        let id = try await start(hub)
        let session = #"{"mediaSessionId":"\#(id)"}"#
        #expect(await hub.sessions(principal: "owner").count == 1)
        #expect(await hub.sessions(principal: "guest").isEmpty)
        #expect(try await hub.session(id, principal: "owner").session.mediaSessionId == id)
        let foreign = await #expect(throws: HomeError.self) { try await hub.session(id, principal: "guest") }
        #expect(foreign?.code == .notFound)
        for (device, principal) in [("yard", "owner"), ("door", "guest")] {
            for command in ["extendLiveView", "startTalkback", "stopTalkback", "stopLiveView"] {
                let error = await #expect(throws: HomeError.self) {
                    try await send(command, session, to: hub, device: device, principal: principal)
                }
                #expect(error?.code == .notFound)
            }
        }
        let extended = try await send(
            "extendLiveView", #"{"mediaSessionId":"\#(id)","extendedDurationSeconds":60}"#, to: hub)
        #expect(String(decoding: extended, as: UTF8.self) == #"{"liveSessionDurationSeconds":60}"#)
        try await send("stopLiveView", session, to: hub)
        // Ending it again is not an error for its owner, and nobody else learns that it existed.
        try await send("stopLiveView", session, to: hub)
        try await send("stopTalkback", session, to: hub)
        for (device, principal) in [("yard", "owner"), ("door", "guest")] {
            let error = await #expect(throws: HomeError.self) {
                try await send("stopLiveView", session, to: hub, device: device, principal: principal)
            }
            #expect(error?.code == .notFound)
        }
    }

    @Test func aCommandReadsNoOtherSession() async throws {
        let hub = makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        for _ in 0..<3 { _ = try await start(hub) }
        let id = try await start(hub)
        // The hub has seen the session, so it reports the end as well.
        while let change = await events.next()?.change {
            if case .session(.started, let session) = change, session.session.mediaSessionId == id { break }
        }
        let session = #"{"mediaSessionId":"\#(id)"}"#
        for command in ["extendLiveView", "startTalkback", "stopTalkback", "stopLiveView"] {
            try await send(command, session, to: hub)
        }
        // Neither the commands nor the reports to watchers.
        while let change = await events.next()?.change {
            if case .session(.ended, let session) = change, session.session.mediaSessionId == id { break }
        }
        #expect(await liveView.listings == 0)
    }

    @Test func aWatcherGetsTheStateFirstAndThenEveryChange() async throws {
        let hub = makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        let initial = [await events.next(), await events.next(), await events.next()].compactMap { $0?.change }
        #expect(
            initial.map { change in
                switch change {
                case .structure(let structure): structure.name
                case .device(let device): device.id
                default: "?"
                }
            } == ["Home", "door", "yard"])

        await hub.apply(FakeCamera.flowing, deviceID: "door")
        guard case .device(let device)? = await events.next()?.change else { throw UnexpectedEvent() }
        #expect(device.connectivityState == .online)
        // The same state again is not a change.
        await hub.apply(FakeCamera.flowing, deviceID: "door")
        await hub.apply(.doorbellPressed(.init()), deviceID: "door")
        guard case .doorbellPressed("door", _, _)? = await events.next()?.change else { throw UnexpectedEvent() }
    }

    @Test func aWatcherGetsOnlyItsOwnSessions() async throws {
        let hub = makeHub()
        var mine = try await hub.changes(principal: "owner").makeAsyncIterator()
        var others = try await hub.changes(principal: "guest").makeAsyncIterator()
        for _ in 0..<3 { _ = (await mine.next(), await others.next()) }

        let id = try await start(hub)
        guard case .session(.started, let started)? = await mine.next()?.change else { throw UnexpectedEvent() }
        #expect(started.session.mediaSessionId == id)
        #expect(started.expiresAt == Date(timeIntervalSince1970: 1_300))

        // Counters alone are not a change; a step of the start is.
        await liveView.change(id) { $0.statistics.packetsSent = 10 }
        await hub.readSession(id)
        await liveView.change(id) { $0.steps.append(.init(name: "pair", milliseconds: 12)) }
        guard case .session(.changed, let changed)? = await mine.next()?.change else { throw UnexpectedEvent() }
        #expect(changed.session.steps.count == 2)

        await liveView.drop(id)
        guard case .session(.ended, let ended)? = await mine.next()?.change else { throw UnexpectedEvent() }
        #expect(ended.session.state == .ended)

        await hub.sendHeartbeat()
        #expect(await others.next() == .heartbeat)
    }

    @Test func commandsGoThroughTheTableWithTheirParametersChecked() async throws {
        let hub = makeHub()
        func send(
            _ trait: String, _ command: String, _ body: String, device: String = "door",
            caller: Caller = Caller(principal: "owner")
        ) async throws -> String {
            let call = CommandCall(deviceID: device, trait: trait, command: command, caller: caller)
            return String(decoding: try await hub.send(call, body: Data(body.utf8)), as: UTF8.self)
        }
        func failure(_ body: () async throws -> String) async -> HomeError? {
            do { _ = try await body() } catch { return error as? HomeError }
            return nil
        }
        let started = try await send("WebRtcLiveView", "startLiveView", #"{"offerSdp":"v=0","qualityHint":"hd"}"#)
        #expect(started.contains(#""mediaSessionId":"session-1""#))
        #expect(await liveView.requests.last?.qualityHint == .hd)
        #expect(
            try await send(
                "WebRtcLiveView", "changeLiveViewQuality", #"{"mediaSessionId":"session-1","qualityHint":3}"#)
                == #"{"qualityHint":"sd"}"#)
        #expect(try await send("WebRtcLiveView", "stopLiveView", #"{"mediaSessionId":"session-1"}"#) == "{}")
        #expect(try await send("DoorbellPress", "press", "{}") == "{}")
        for (body, message) in [
            (#"{"offerSdp":""}"#, "offerSdp is empty; it must contain the viewer's SDP offer"),
            (#"{}"#, "offerSdp is missing"),
            (#"{"offerSdp":"v=0","qualityHint":"8k"}"#, "qualityHint: expected one of"),
            ("{", "the body is not valid JSON"),
        ] {
            let error = await failure { try await send("WebRtcLiveView", "startLiveView", body) }
            #expect(error?.code == .invalidArgument && error?.message.hasPrefix(message) == true, "\(body)")
        }
        #expect(await failure { try await send("OnOff", "on", "{}") }?.code == .notFound)
        #expect(await failure { try await send("DoorbellPress", "ring", "{}") }?.code == .notFound)
        #expect(await failure { try await send("DoorbellPress", "press", "{}", device: "attic") }?.code == .notFound)
        let reader = Caller(principal: "guest", access: Access([.init([.read])]))
        #expect(
            await failure { try await send("DoorbellPress", "press", "{}", caller: reader) }?.code == .permissionDenied)
        // What a caller is survives the way to another gateway.
        let caller = Caller(
            principal: "guest", access: Access([.init([.read])]), requestID: "r", idempotencyKey: "k",
            remainingSeconds: 2.5,
            address: "192.0.2.1", reachedAddresses: ["192.0.2.2"])
        #expect(try JSONDecoder().decode(Caller.self, from: JSONEncoder().encode(caller)) == caller)
    }

    @Test func everyCommandOfACameraHasAHandler() {
        let traits = DeviceKind.allCases.flatMap { $0.type.requiredTraits }
        let commands = traits.flatMap { $0.supportedCommandTypes }
        #expect(commands.count > 10)
        for command in commands {
            let call = CommandCall(
                deviceID: "door", trait: command.trait.name, command: command.name, caller: Caller(principal: "owner"))
            #expect(
                CommandTable.standard.handler(of: call, isCamera: true) != nil, "\(command.trait.name).\(command.name)")
        }
    }

    @Test func aBackendReportsTheAttributesOfItsTraits() async throws {
        let hub = makeHub()
        let connection = Google.PushAvStreamTransportTrait.TransportConfigurationStruct(
            connectionID: 7, transportStatus: .active)
        let trait = Google.PushAvStreamTransportTrait(
            attributes: .init(currentConnections: [connection]))
        await hub.apply(.attributes(TraitCollection([trait])), deviceID: "door")
        let traits = try await hub.device("door").traits
        #expect(traits[Google.PushAvStreamTransportTrait.self] == trait)
        #expect(traits[Google.DoorbellPressTrait.self] != nil)
    }

    @Test func theButtonIsPressedThroughTheDriverAndTheRunningHubReportsIt() async throws {
        let hub = makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        for _ in 0..<3 { _ = await events.next() }
        try await hub.press("door")
        camera.finish()
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
        let hub = makeHub()
        _ = try await start(hub)
        _ = try await start(hub, principal: "guest")
        #expect(await hub.endAllSessions() == 2)
        #expect(await liveView.sessions().isEmpty)
    }
}

struct UnexpectedEvent: Error {}
