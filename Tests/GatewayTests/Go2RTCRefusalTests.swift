import HTTPTypes
import HomeTypes
import Hummingbird
import Testing

@testable import Gateway

/// Cameras that programs ask for by an address over the API of go2rtc.
@Suite struct Go2RTCRefusalTests {
    private static let both = "gatehouse_both"
    private static let viewing = "gatehouse_view"

    private static func gateway() async throws -> TestGateway {
        let gateway = try TestGateway { $0.offersGo2RTC = true }
        try await gateway.addToken(both, named: "assistant", Access([.init([.read, .view])]))
        try await gateway.addToken(viewing, named: "display", Access([.init([.view])]))
        return gateway
    }

    @Test func `a camera is found by its address, as the WebRTC card sends it`() async throws {
        try await Self.gateway().run { client in
            func frame(_ source: String, _ token: String) async throws -> TestResponse {
                try await client.send(.get, "/api/frame.jpeg?src=\(source)&name=camera.yard", token: token)
            }
            let right = try await frame("rtsp://viewer:secret@192.0.2.1/", Self.both)
            #expect(right.status == .ok && right.headers[.contentType] == "image/jpeg")
            let wrong = try await frame("rtsp://192.0.2.2/", Self.both)
            #expect(wrong.status == .badRequest)
            // A token that only watches does not learn which address a camera has.
            let guessed = try await frame("rtsp://192.0.2.1/", Self.viewing)
            #expect(guessed.status == .badRequest && guessed.text == wrong.text)
            // A name needs no more than the right to watch.
            let byName = try await frame("yard", Self.viewing)
            #expect(byName.status == .ok)
        }
    }

    @Test func `a camera that is not here is logged once, and the doctor names it until it is found`() async throws {
        let gateway = try await Self.gateway()
        let log = LogLines()
        try await gateway.run(logger: log.logger) { client in
            func name(_ address: String, _ token: String) async throws -> HTTPResponse.Status {
                try await client.send(.put, "/api/streams?name=camera.shed&src=\(address)", token: token).status
            }
            func words() async throws -> String {
                try await client.get("/v1/doctor").decoded(DoctorReport.self).findings
                    .filter { $0.message.contains("asked for a camera") }
                    .map { "\($0.message) \($0.advice ?? "")" }.joined(separator: "\n")
            }
            let before = try await words()
            #expect(before.isEmpty)
            for _ in 0..<3 {
                let status = try await name("rtsp://viewer:secret@192.0.2.9/h", Self.both)
                #expect(status == .badRequest)
            }
            let lines = log.lines.filter { $0.message.contains("asked for a camera that this gateway does not have") }
            #expect(lines.count == 1)
            let missing = try await words()
            #expect(
                missing.contains(
                    "a camera that this gateway does not have: camera.shed at rtsp://viewer:***@192.0.2.9/h "))
            #expect(missing.contains("token of assistant") && !missing.contains("secret"))

            // A guest writes no address of its own into what the owner reads.
            let foreign = try await name("rtsp://203.0.113.5/h", Self.viewing)
            #expect(foreign == .badRequest)
            let unchanged = try await words()
            #expect(unchanged == missing)

            // A token without the rights gets the same answer; the owner learns the difference.
            let forbidden = try await name("rtsp://192.0.2.1/", Self.viewing)
            #expect(forbidden == .badRequest)
            let both = try await words()
            #expect(both.contains("its token may not watch and read: camera.shed at rtsp://192.0.2.1/"))

            let found = try await name("rtsp://192.0.2.1/", Self.both)
            #expect(found == .ok)
            let after = try await words()
            #expect(!after.contains("token of assistant") && after.contains("token of display"))
        }
    }

    @Test func `Home Assistant is named only if the program says that it is Home Assistant`() async throws {
        try await Self.gateway().run { client in
            func name(_ stream: String, _ userAgent: String?) async throws -> HTTPResponse.Status {
                var headers: HTTPFields = [:]
                headers[.userAgent] = userAgent
                return try await client.send(
                    .put, "/api/streams?name=\(stream)&src=rtsp://192.0.2.9/h", token: Self.both, headers: headers
                ).status
            }
            let statuses = [
                try await name("camera.shed", "HomeAssistant/2026.11.1 aiohttp/3.13.2 Python/3.13"),
                try await name("hall", "Mozilla/5.0 NotHomeAssistant/1"), try await name("attic", nil),
            ]
            #expect(statuses == [.badRequest, .badRequest, .badRequest])
            let found = try await client.get("/v1/doctor").decoded(DoctorReport.self).findings
                .filter { $0.message.contains("asked for a camera that this gateway does not have") }
            #expect(found.count == 2)
            let named = found.first { $0.message.hasPrefix("Home Assistant asked") }
            #expect(named?.message.contains("camera.shed") == true && named?.message.contains("hall") == false)
            #expect(named?.advice?.contains("open it in Home Assistant again") == true)
            let other = found.first { $0.message.hasPrefix("A go2rtc client asked") }
            #expect(other?.message.contains("hall") == true && other?.message.contains("attic") == true)
            #expect(other?.advice?.contains("Home Assistant") == false)
        }
    }

    @Test(arguments: [
        ("rtsp://viewer:pa/ss@cam.example/live", "pa/ss"), ("rtsp://cam.example/user=a_password=secret1", "secret1"),
        ("http://cam.example/snapshot.cgi?usr=a&pw=secret1", "secret1"), ("exec:curl http://a:secret1@x/", "secret1"),
        ("ffmpeg:rtsp://a:secret1@x/", "secret1"),
    ])
    func `what is kept of an address has no password`(address: String, password: String) {
        let refusal = Go2RTCRefusal(name: "camera.shed", source: address, isHere: false)
        #expect(!refusal.source.contains(password), "\(refusal.source)")
        // Some programs use the address as the name.
        let named = Go2RTCRefusal(name: address, source: address, isHere: false)
        #expect(!address.contains("://") || !named.name.contains(password), "\(named.name)")
    }

    @Test func `a program fills neither the log nor the memory`() {
        let streams = Go2RTCStreams()
        let logged = (0..<1_000).count { number in
            streams.record(.init(name: "n\(number)\n", source: "rtsp://x/", isHere: false), of: "ana")
        }
        #expect(logged == Go2RTCStreams.mostRefusals)
        #expect(streams.refusals.count == Go2RTCStreams.mostRefusals)
        #expect(streams.refusals.allSatisfy { !$0.refusal.name.contains("\n") })
        let isFirst = streams.record(.init(name: "n0", source: "rtsp://x/", isHere: false), of: "bea")
        #expect(isFirst)
        streams.end(of: "ana") { _ in true }
        #expect(streams.refusals.map { $0.principal } == ["bea"])
    }
}
