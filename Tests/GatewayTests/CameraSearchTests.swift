import Cameras
import Foundation
import HTTPTypes
import HomeFakes
import HomeTypes
import ONVIF
import Testing
import Transport

@testable import Gateway

/// A network with cameras that answer WS-Discovery.
final class FakeNetwork: Sendable {
    struct State {
        var cameras: [ONVIFDiscovery.Camera] = []
        var searches = 0
        var failure: ONVIFError?
    }

    let state = Locked(State())
    /// What a search waits for.
    let gate = DispatchSemaphore(value: 0)
    let isHeld = Locked(false)

    var look: @Sendable () throws(ONVIFError) -> [ONVIFDiscovery.Camera] {
        { [self] () throws(ONVIFError) in
            state.withLock { $0.searches += 1 }
            if isHeld.withLock({ $0 }) { gate.wait() }
            if let failure = state.withLock({ $0.failure }) { throw failure }
            return state.withLock { $0.cameras }
        }
    }

    func add(_ host: String, _ addresses: [String], name: String? = nil, model: String? = nil) {
        let match = WSDiscovery.Match(
            endpoint: "urn:uuid:\(host)", addresses: addresses, name: name, hardware: model, location: nil)
        state.withLock { $0.cameras.append(.init(match: match, host: host)) }
    }
}

@Suite struct CameraSearchTests {
    private let json = "application/json"

    @Test func `cameras of the network are listed with the source that they would have`() async throws {
        let gateway = try TestGateway()
        gateway.network.add("192.0.2.20", ["http://192.0.2.20/onvif/device_service"], name: "Yard", model: "C-1")
        gateway.network.add(
            "192.0.2.21", ["http://169.254.3.4/onvif/device_service", "http://192.0.2.21:8000/onvif/x"])
        // What a camera says of another host does not count.
        gateway.network.add("192.0.2.22", ["http://127.0.0.1:22/onvif/device_service", "not a URL"])
        gateway.network.add("192.0.2.1", ["http://192.0.2.1/onvif/device_service"])
        await gateway.keeper.begin()
        try await gateway.run { client in
            let found = try await client.send(.post, "/v1/cameras/discover").decoded(CameraSearch.Answer.self).cameras
            #expect(
                found.map(\.source) == [
                    "onvif://192.0.2.1", "onvif://192.0.2.20", "onvif://192.0.2.21:8000/onvif/x", "onvif://192.0.2.22",
                ])
            // The yard's camera is in the config.
            #expect(found.map(\.camera) == ["yard", nil, nil, nil])
            #expect(found[1].name == "Yard" && found[1].model == "C-1" && found[1].address == "192.0.2.20")
        }
    }

    @Test func `searches that run at once are one`() async throws {
        let network = FakeNetwork()
        network.add("192.0.2.20", [])
        network.isHeld.withLock { $0 = true }
        let search = CameraSearch(look: network.look)
        let callers = (0..<8).map { _ in Task { try await search.search().count } }
        while network.state.withLock({ $0.searches }) == 0 { await Task.yield() }
        // While the search is held, every caller joins it. A caller that started its own would be counted.
        for _ in 0..<1_000 { await Task.yield() }
        #expect(network.state.withLock { $0.searches } == 1)
        network.isHeld.withLock { $0 = false }
        network.gate.signal()
        for caller in callers { #expect(try await caller.value == 1) }
        let before = network.state.withLock { $0.searches }
        _ = try await search.search()
        #expect(network.state.withLock { $0.searches } == before + 1)
    }

    @Test func `a machine without a network that can be searched says so`() async throws {
        let gateway = try TestGateway()
        gateway.network.state.withLock { $0.failure = .unreachable("this host has no interface that can multicast") }
        try await gateway.run { client in
            let response = try await client.send(.post, "/v1/cameras/discover")
            #expect(response.status == .serviceUnavailable)
            #expect(response.failure?.message.contains("no interface that can multicast") == true)
        }
    }

    @Test func `a camera that cannot be reached says why, without its password`() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            // Nothing listens at the discard port.
            for source in ["rtsp://viewer:hunter22@127.0.0.1:9/s", "onvif://viewer:hunter22@127.0.0.1:9"] {
                let response = try await client.send(
                    .post, "/v1/cameras/probe", #"{"source":"\#(source)"}"#, type: json)
                let answer = try response.decoded(GatewayAPI.ProbeAnswer.self)
                #expect(!answer.reached && answer.failure != nil && answer.tracks.isEmpty)
                #expect(answer.cause == .refused)
                #expect(!response.text.contains("hunter22"))
            }
            #expect(gateway.secrets.all.contains("hunter22"))
        }
    }

    @Test(arguments: [
        (#"{}"#, "source: expected"), (#"{"source":"whip"}"#, "source: "),
        (#"{"source":"builtin:doorbell"}"#, "source: "),
        (#"{"source":"file:///etc/passwd"}"#, "source: "), (#"{"source":["rtsp://192.0.2.1/"]}"#, "source: expected"),
        (#"{"source":"rtsp://192.0.2.1/","transport":"pigeon"}"#, "transport: expected"),
        (#"{"source":"rtsp://viewer:***@192.0.2.66/"}"#, "refers to a stored secret"),
        (#"{"source":"rtsp://192.0.2.1/","id":"nowhere"}"#, "no camera has the id"),
    ])
    func `settings that cannot be a camera's are not tried`(body: String, expected: String) async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let response = try await client.send(.post, "/v1/cameras/probe", body, type: json)
            #expect(response.status == .badRequest || response.status == .notFound)
            #expect(response.failure?.message.contains(expected) == true, "\(response.text)")
        }
    }

    @Test func `the environment stays secret, and a masked password is the one that is stored`() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        let keeper = gateway.keeper
        let typed = try #require(CameraEntry(json: Data(#"{"source":"rtsp://192.0.2.9/${HOME}"}"#.utf8)))
        #expect(try await keeper.probeAddress(of: typed).expanded == "rtsp://192.0.2.9/${HOME}")
        try await gateway.run { client in
            let settings = #"{"source":"rtsp://viewer:hunter22@192.0.2.9/s"}"#
            _ = try await client.send(.put, "/v1/cameras/gate", settings, type: json)
            let both = #"{"source":"rtsp://a:hunter22@192.0.2.9/s","substream":"rtsp://small:hunter33@192.0.2.9/2"}"#
            _ = try await client.send(.put, "/v1/cameras/yard", both, type: json)
        }
        // The smaller stream may be tried, too, and has a login of its own.
        let smaller = CameraEntry(values: ["source": .text("rtsp://small:***@192.0.2.9/3"), "id": .text("yard")])
        #expect(try await keeper.probeAddress(of: smaller).expanded == "rtsp://small:hunter33@192.0.2.9/3")
        func masked(at host: String) -> CameraEntry {
            CameraEntry(values: ["source": .text("rtsp://viewer:***@\(host)/t"), "id": .text("gate")])
        }
        #expect(
            try await keeper.probeAddress(of: masked(at: "192.0.2.9")).expanded == "rtsp://viewer:hunter22@192.0.2.9/t")
        // Not for another machine.
        await #expect(throws: HomeError.self) { try await keeper.probeAddress(of: masked(at: "192.0.2.66")) }
    }
}
