import Foundation
import GatewayClient
import GatewayProcess
import HomeTypes
import OpenCombine
import Testing

@testable import HomeSDK

/// What apps change in a home, with a real gateway.
@Suite(.timeLimit(.minutes(10))) struct ChangingHomeTests {
    /// A gateway with a camera, a lamp and a fan, and the home that it serves.
    private struct World {
        let gateway: GatewayProcess
        let home: Home

        init() throws {
            gateway = try GatewayProcess(
                sections: """
                    "cameras": [{"id": "door", "name": "Door", "type": "doorbell", "source": "builtin:doorbell"}],
                    "devices": {"lamp": {"name": "Lamp", "type": "OnOffLight"}, "fan": {"name": "Fan", "type": "Fan"}}
                    """)
            home = Home(GatewayConnection(url: gateway.address, token: gateway.token), HomeClientConfiguration())
        }

        func device(_ name: String) async throws -> HomeDevice {
            try #require(try await home.devices().list().first { $0.name == name })
        }
    }

    /// The error with which an operation fails.
    private func failure(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Void
    ) async throws -> HomeError {
        do {
            try await operation()
        } catch {
            return try #require(error as? HomeError)
        }
        throw HomeError.unknown("nothing failed")
    }

    @Test func `commands of a batch go together, and each has its own outcome`() async throws {
        let world = try World()
        defer { world.gateway.stop() }
        let lamp = try await world.device("Lamp")
        let onOff = try #require(await lamp.traits.get(Matter.OnOffTrait.self))
        let door = try #require(try await world.device("Door").traits.get(Google.WebRtcLiveViewTrait.self))
        let (on, stop) = try await world.home.sendBatchedCommands { batch in
            let on = try batch.add(Matter.OnOffTrait.on(), to: onOff)
            #expect(throws: HomeError.self) { try on.response }
            #expect(throws: HomeError.self) { try batch.add(Matter.OnOffTrait.off(), to: door) }
            #expect(throws: HomeError.self) {
                try batch.add(Matter.OnOffTrait.off(), to: Matter.OnOffTrait(attributes: .init()))
            }
            return (on, try batch.add(Google.WebRtcLiveViewTrait.stopLiveView(mediaSessionId: "none"), to: door))
        }
        _ = try on.response
        let refused = try await failure { _ = try stop.response }
        #expect(refused.code == .notFound)
        // Only the commands that were added took effect.
        let changed = Recorder(
            lamp.types.subscribe(OnOffLightDeviceType.self).filter {
                $0.matterTraits.onOffTrait?.onOff == true
            })
        #expect(await changed.wait(for: 1).count == 1)
        let empty = try await world.home.sendBatchedCommands { _ in 7 }
        #expect(empty == 7)
    }

    @Test func `a device moves between structures and rooms, and only empty structures are deleted`() async throws {
        let world = try World()
        defer { world.gateway.stop() }
        let lamp = try await world.device("Lamp")
        let first = try #require(try await world.home.structures().list().first)
        let cabin = try await world.home.structures().create(name: "Cabin")
        #expect(cabin.name == "Cabin" && cabin.id != first.id)
        let attic = try await cabin.createRoom(name: "Attic")
        let moved = try await cabin.move(device: lamp, to: attic)
        #expect(moved.structureID == cabin.id && moved.roomID == attic.id && lamp.structureID == first.id)
        #expect(
            try await failure { try await world.home.structures().delete(structure: cabin) }.code == .failedPrecondition
        )
        let renamed = try await attic.setName("Loft")
        #expect(renamed.name == "Loft" && attic.name == "Attic" && renamed.id == attic.id)
        // The device stays in the structure when its room goes.
        try await cabin.deleteRoom(renamed)
        let rooms = try await failure { try await attic.setName("Gone") }
        #expect(rooms.code == .notFound)
        let back = try await first.move(device: moved, to: nil)
        #expect(back.structureID == first.id && back.roomID == nil)
        try await world.home.structures().delete(structure: cabin)
        #expect(try await failure { try await cabin.setName("Hut") }.code == .notFound)
    }

    @Test func `a device of the config is not removed, and the refusal says why`() async throws {
        let world = try World()
        defer { world.gateway.stop() }
        let door = try await world.device("Door")
        let eligibility = try await door.decommissionEligibility
        #expect(!eligibility.isEligible && eligibility.reason?.isEmpty == false)
        let refusal = try await failure { try await door.decommission() }
        #expect(refusal.code == .failedPrecondition && refusal.subtype == .decommission(.ineligible))
        #expect(try await world.device("Door").id == door.id)
    }

    @Test func `a camera that was added over the API is removed, with what belonged to it`() async throws {
        let world = try World()
        defer { world.gateway.stop() }
        let connection = world.home.model.connection
        _ = try await connection.put(
            "/v1/cameras/yard", Data(#"{"name":"Yard","source":"builtin:silent"}"#.utf8))
        let yard = try await world.device("Yard")
        _ = try await connection.post(
            "/v1/tokens", contentType: "application/json",
            body: Data(#"{"name":"gardener","grants":[{"scopes":["read"],"deviceID":"\#(yard.id)"}]}"#.utf8))
        let eligibility = try await yard.decommissionEligibility
        #expect(eligibility.isEligible && eligibility.reason == nil && eligibility.removes == [yard.id])
        #expect(eligibility.tokens == ["gardener"] && !eligibility.webhook && eligibility.automations.isEmpty)
        #expect(eligibility.recordings == .init(count: 0, byteCount: 0))
        #expect(try await yard.decommission() == [yard.id])
        // The library waits for the event stream for two seconds, and a busy machine may take longer.
        for try await devices in world.home.devices().batched().values
        where !devices.contains(where: { $0.id == yard.id }) { break }
        #expect(try await failure { try await yard.decommission() }.code == .notFound)
        #expect(try await failure { _ = try await yard.decommissionEligibility }.code == .notFound)
        let tokens = String(decoding: try await connection.get("/v1/tokens"), as: UTF8.self)
        #expect(!tokens.contains("gardener"))
    }

    @Test func `a refusal says which permission is missing`() async throws {
        let world = try World()
        defer { world.gateway.stop() }
        let made = try await world.home.model.connection.post(
            "/v1/tokens", contentType: "application/json",
            body: Data(#"{"name":"reader","grants":[{"scopes":["read"]}]}"#.utf8))
        let token = try #require(
            (try JSONSerialization.jsonObject(with: made) as? [String: Any])?["token"] as? String)
        let reader = Home(GatewayConnection(url: world.gateway.address, token: token), HomeClientConfiguration())
        let lamp = try #require(try await reader.devices().list().first { $0.name == "Lamp" })
        let light = try #require(await lamp.types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait)
        let refusal = try await failure { try await light.on() }
        #expect(refusal.code == .permissionDenied && refusal.subtype == .permissions(.notGranted))
    }

    /// Apps of guests, whose tokens name devices.
    @Test func `an app shows what it may read after a change of its grants, and misses no event`() async throws {
        let world = try World()
        defer { world.gateway.stop() }
        let owner = world.home.model.connection
        var ids: [String] = []
        for name in ["Door", "Lamp", "Fan"] { ids.append(try await world.device(name).id) }
        func grants(_ devices: [String]) -> String {
            let list = devices.map { #"{"scopes":["read"],"deviceID":"\#($0)"}"# }
            return #""grants":[\#(list.joined(separator: ","))]"#
        }
        let made = try await owner.post(
            "/v1/tokens", contentType: "application/json",
            body: Data(#"{"name":"guest",\#(grants([ids[0], ids[1]]))}"#.utf8))
        let token = try #require(try JSONSerialization.jsonObject(with: made) as? [String: Any])
        let secret = try #require(token["token"] as? String)
        let id = try #require(token["id"] as? String)
        func grant(_ devices: [String]) async throws {
            _ = try await owner.patch("/v1/tokens/\(id)", body: Data("{\(grants(devices))}".utf8))
        }
        let guest = Home(GatewayConnection(url: world.gateway.address, token: secret), HomeClientConfiguration())
        func waitFor(_ names: Set<String>) async throws {
            for try await devices in guest.devices().batched().values where Set(devices.map(\.name)) == names { return }
            Issue.record("the devices ended before they were \(names)")
        }
        try await waitFor(["Door", "Lamp"])
        let door = try #require(try await guest.devices().list().first { $0.name == "Door" })
        let lamp = try #require(try await guest.devices().list().first { $0.name == "Lamp" })
        let presses = Recorder(door.events.subscribe(Google.DoorbellPressTrait.DoorbellPressedEvent.self))
        let types = Recorder(lamp.types.subscribe(OnOffLightDeviceType.self))
        await types.wait(for: 1)

        try await grant([ids[0], ids[2]])
        // Pressed while the app has no stream.
        try await owner.send(Google.DoorbellPressTrait.press(), to: ids[0])
        try await waitFor(["Door", "Fan"])
        await types.waitForEnd()
        #expect(types.isFinished)
        #expect(await presses.wait(for: 1).count == 1)
        // A state of one object must also be recognized.
        try await grant([ids[1]])
        try await waitFor(["Lamp"])
        try await grant(ids)
        try await waitFor(["Door", "Lamp", "Fan"])
        #expect(presses.failure == nil)
    }

    @Test @MainActor func `what a gateway cannot do says what to do instead`() async throws {
        let world = try World()
        defer { world.gateway.stop() }
        let home = world.home
        let hub = Hub(id: "h", name: "Hub")
        let activation = try await failure { try await home.startHubActivation(hub, structureID: "s") }
        #expect(activation.code == .unimplemented && activation.subtype == .hubActivation(.unsupported))
        let ways = "PUT /v1/cameras/{camera}"
        for error in [
            activation, try await failure { _ = try await home.discoverAvailableHubs() },
            try await failure {
                _ = try await home.commissionDevice(setupPayload: "MT:Y.K9042C00KA0648G00", structureID: "s")
            },
        ] {
            #expect(error.code == .unimplemented && error.message.contains(ways), "\(error)")
        }
        #expect(try await failure { try await home.presentPermissionsUpdate() }.message.contains("gatehouse token"))
        #expect(try await failure { try await home.acceptInvitation("x") }.message.contains("gatehouse token"))
    }

    @Test @MainActor func `a session is restored with its token, and not with a token that is refused`() async throws {
        let gateway = try GatewayProcess(sections: #""cameras": []"#)
        func configure(_ address: String?, _ token: String?) {
            Home.configure {
                $0.address = address
                $0.token = token
            }
        }
        defer { configure(nil, nil) }
        configure(gateway.address, gateway.token)
        #expect(await Home.restoreSession()?.identifier == gateway.address)
        // A view that restores the session may leave the screen before there is an answer.
        let restoring = Task { @MainActor [address = gateway.address, token = gateway.token] in
            Home.configure {
                $0.address = address
                $0.token = token
            }
            return await Home.restoreSession()
        }
        restoring.cancel()
        #expect(await restoring.value != nil)
        // Other tests configure the same class: each connection is configured right before it is made.
        configure(gateway.address, gateway.token)
        _ = try await Home.connect()
        configure(gateway.address, "gatehouse_of-somebody-else-0000000000000000000")
        #expect(await Home.restoreSession() == nil)
        let refusal = try await failure {
            configure(gateway.address, "gatehouse_of-somebody-else-0000000000000000000")
            _ = try await Home.connect()
        }
        #expect(refusal.code == .unauthenticated)
        // Nobody has to sign in again because the gateway is away.
        gateway.stop()
        configure(gateway.address, gateway.token)
        let away = try #require(await Home.restoreSession())
        let absence = try await failure {
            configure(gateway.address, gateway.token)
            _ = try await Home.connect()
        }
        #expect(absence.code == .unavailable)
        await away.disconnect()
        #expect(try await failure { _ = try await away.devices().list() }.code == .cancelled)
    }
}
