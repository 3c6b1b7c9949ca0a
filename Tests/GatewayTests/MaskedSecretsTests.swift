import Foundation
import HTTPTypes
import HomeTypes
import Testing

@testable import Gateway

/// A secret that comes back as `***` means the one that it hides, only for the same user at the same host.
@Suite struct MaskedSecretsTests {
    static let json = "application/json"

    /// Makes a camera with `before`, changes it with `patch`, and gives the answer and what runs then.
    private func change(
        _ before: String, patch: String, put: Bool = false
    ) async throws -> (response: TestResponse, camera: GatewayConfiguration.Camera) {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        return try await gateway.run { client in
            let made = try await client.send(.put, "/v1/cameras/gate", before, type: Self.json)
            #expect(made.status == .created, "\(made.text)")
            #expect(!made.text.contains("hunter"))
            let changed = try await client.send(put ? .put : .patch, "/v1/cameras/gate", patch, type: Self.json)
            #expect(!changed.text.contains("hunter"), "\(changed.text)")
            var camera = try #require(await gateway.cameras.applied.last?.last)
            // The home has added this; it is in no file.
            camera.deviceID = camera.id
            let stored = try CameraStore(directory: gateway.folder.directory).read(environment: [:])?.cameras
            #expect(stored?.last?.camera == camera)
            return (changed, camera)
        }
    }

    private static let source = "rtsp://viewer:hunter22@192.0.2.9/s"

    @Test(arguments: [
        // The path, the query, and the port of the same camera.
        (Self.source, "rtsp://viewer:***@192.0.2.9/other", "rtsp://viewer:hunter22@192.0.2.9/other"),
        (Self.source, "rtsp://viewer:***@192.0.2.9/s?channel=2", "rtsp://viewer:hunter22@192.0.2.9/s?channel=2"),
        (Self.source, "rtsp://viewer:***@192.0.2.9:8554/s", "rtsp://viewer:hunter22@192.0.2.9:8554/s"),
        (Self.source, "rtsps://viewer:***@192.0.2.9/s", "rtsps://viewer:hunter22@192.0.2.9/s"),
        (Self.source, "onvif://viewer:***@192.0.2.9", "onvif://viewer:hunter22@192.0.2.9"),
        // The same host in another form.
        (
            "rtsp://viewer:hunter22@Cam.Example/s", "rtsp://viewer:***@cam.EXAMPLE./t",
            "rtsp://viewer:hunter22@cam.EXAMPLE./t"
        ),
        (
            "rtsp://viewer:hunter22@[2001:DB8::9]/s", "rtsp://viewer:***@[2001:db8:0::9]:554/s",
            "rtsp://viewer:hunter22@[2001:db8:0::9]:554/s"
        ),
        // Percent-encoding, of the user and of the mark, and in the password itself.
        (
            "rtsp://a%40b:hunter%2022@192.0.2.9/s", "rtsp://a%40b:***@192.0.2.9/t",
            "rtsp://a%40b:hunter%2022@192.0.2.9/t"
        ),
        (Self.source, "rtsp://%76iewer:%2A%2A%2A@192.0.2.9/t", "rtsp://%76iewer:hunter22@192.0.2.9/t"),
        (
            "rtsp://viewer:hunter/2?2@192.0.2.9/s", "rtsp://viewer:***@192.0.2.9/t",
            "rtsp://viewer:hunter/2?2@192.0.2.9/t"
        ),
        (
            "rtsp://viewer:hunter${22}@192.0.2.9/s", "rtsp://viewer:***@192.0.2.9/t",
            "rtsp://viewer:hunter${22}@192.0.2.9/t"
        ),
        // Several secrets, in another order, and one of them new.
        (
            "rtsp://viewer:hunter22@192.0.2.9/s?password=hunter23&token=hunter24",
            "rtsp://viewer:***@192.0.2.9/s?token=***&password=***",
            "rtsp://viewer:hunter22@192.0.2.9/s?token=hunter24&password=hunter23"
        ),
        (
            "rtsp://viewer:hunter22@192.0.2.9/s?password=hunter23", "rtsp://viewer:***@192.0.2.9/s?password=new-one",
            "rtsp://viewer:hunter22@192.0.2.9/s?password=new-one"
        ),
        (
            "rtsp://192.0.2.9/user=admin_password=hunter23_channel=1.sdp", "rtsp://192.0.2.9/user=admin_password=***",
            "rtsp://192.0.2.9/user=admin_password=hunter23_channel=1.sdp"
        ),
        // Without a user on both sides.
        ("rtsp://192.0.2.9/s?token=hunter24", "rtsp://192.0.2.9/t?token=***", "rtsp://192.0.2.9/t?token=hunter24"),
        // On this machine, at the same port.
        (
            "rtsp://viewer:hunter22@localhost:8554/s", "rtsp://viewer:***@localhost:8554/t",
            "rtsp://viewer:hunter22@localhost:8554/t"
        ),
        // A password that is left out is removed.
        (Self.source, "rtsp://viewer@192.0.2.66/s", "rtsp://viewer@192.0.2.66/s"),
    ]) func aMaskStandsForItsSecret(before: String, edit: String, expected: String) async throws {
        for put in [false, true] {
            let result = try await self.change(
                Self.body(["source": before]), patch: Self.body(["source": edit]), put: put)
            #expect(result.response.status == .ok, "\(result.response.text)")
            #expect(result.camera.sourceText == expected)
        }
    }

    @Test(arguments: [
        // Other hosts, however they are dressed.
        (Self.source, "rtsp://viewer:***@192.0.2.66/s"), (Self.source, "rtsp://viewer:***@192.0.2.99/s"),
        (Self.source, "rtsp://viewer:***@192.0.2.9.evil.example/s"),
        (Self.source, "rtsp://viewer:***@evil.example/192.0.2.9"),
        (Self.source, "rtsp://viewer:***@evil.example?192.0.2.9"),
        (Self.source, "rtsp://viewer:***@[2001:db8::9]/s"),
        (Self.source, "rtsp://viewer:***@192.0.2.9%2eevil.example/"),
        ("rtsp://viewer:hunter22@192.0.2.9/s?token=hunter24", "rtsp://viewer:new@192.0.2.66/s?token=***"),
        // Another user, or none.
        (Self.source, "rtsp://root:***@192.0.2.9/s"), (Self.source, "rtsp://Viewer:***@192.0.2.9/s"),
        (Self.source, "rtsp://:***@192.0.2.9/s"),
        ("rtsp://192.0.2.9/s?token=hunter24", "rtsp://viewer:new@192.0.2.9/s?token=***"),
        // A secret that does not exist.
        ("rtsp://viewer@192.0.2.9/s", "rtsp://viewer:***@192.0.2.9/s"),
        (Self.source, "rtsp://viewer:***@192.0.2.9/s?token=***"),
        ("rtsp://viewer:hunter22@192.0.2.9/s?key=hunter23", "rtsp://viewer:***@192.0.2.9/s?key=***&key=***"),
        // In the clear instead of encrypted.
        ("rtsps://viewer:hunter22@192.0.2.9/s", "rtsp://viewer:***@192.0.2.9/s"),
        // Another program on this machine.
        ("rtsp://viewer:hunter22@127.0.0.1:8554/s", "rtsp://viewer:***@127.0.0.1:8555/s"),
        ("rtsp://viewer:hunter22@localhost/s", "rtsp://viewer:***@localhost:8555/s"),
        ("rtsp://viewer:hunter22@[::1]/s", "rtsp://viewer:***@[::1]:8555/s"),
    ]) func aMaskWithoutASecretIsRefused(before: String, edit: String) async throws {
        for put in [false, true] {
            let result = try await self.change(
                Self.body(["source": before]), patch: Self.body(["source": edit]), put: put)
            #expect(result.response.status == .badRequest, "\(edit): \(result.camera.sourceText)")
            #expect(result.response.failure?.message.hasPrefix("source: *** refers to a stored secret") == true)
            #expect(result.camera.sourceText == before)
        }
    }

    @Test func aNewCameraHasNoSecretBehindAMask() async throws {
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            for body in [
                #"{"source":"rtsp://viewer:***@192.0.2.9/"}"#,
                #"{"source":"whip","substream":"rtsp://a:***@192.0.2.9/"}"#,
                #"{"source":"whip","onvif":{"url":"http://192.0.2.9/","username":"a","password":"***"}}"#,
                #"{"source":"whip","onvif":{"url":"http://192.0.2.9/?token=***"}}"#,
            ] {
                let made = try await client.send(.put, "/v1/cameras/gate", body, type: Self.json)
                #expect(
                    made.status == .badRequest
                        && made.failure?.message.contains("*** refers to a stored secret") == true, "\(body)")
            }
            // The passwords of one camera are not those of another.
            _ = try await client.send(
                .put, "/v1/cameras/one", #"{"source":"rtsp://viewer:hunter22@192.0.2.9/"}"#, type: Self.json)
            let other = try await client.send(
                .put, "/v1/cameras/two", #"{"source":"rtsp://viewer:***@192.0.2.9/"}"#, type: Self.json)
            #expect(other.status == .badRequest)
        }
    }

    @Test func theSubstreamsSecretIsItsOwnOrTheSources() async throws {
        let both = Self.body(["source": Self.source, "substream": "rtsp://sub:hunter33@192.0.2.9/2"])
        let moved = try await change(both, patch: #"{"substream":"rtsp://sub:***@192.0.2.9/3"}"#)
        #expect(moved.camera.substream == "rtsp://sub:hunter33@192.0.2.9/3")
        let shared = try await change(both, patch: #"{"substream":"rtsp://viewer:***@192.0.2.9/3"}"#)
        #expect(shared.camera.substream == "rtsp://viewer:hunter22@192.0.2.9/3")
        let added = try await change(
            Self.body(["source": Self.source]), patch: #"{"substream":"rtsp://viewer:***@192.0.2.9/3"}"#)
        #expect(added.camera.substream == "rtsp://viewer:hunter22@192.0.2.9/3")
        let foreign = try await change(both, patch: #"{"substream":"rtsp://sub:***@192.0.2.66/3"}"#)
        #expect(foreign.response.failure?.message.hasPrefix("substream: ***") == true)
        #expect(foreign.camera.substream == "rtsp://sub:hunter33@192.0.2.9/2")
    }

    @Test(arguments: [
        (#"{"url":"http://192.0.2.9/other","password":"***"}"#, true), (#"{"password":"***"}"#, true),
        (#"{"url":"http://192.0.2.9:8000/","username":"viewer","password":"***"}"#, true),
        (#"{"url":"https://192.0.2.9/","username":"viewer","password":"***"}"#, true),
        (#"{"url":"http://192.0.2.66/","username":"viewer","password":"***"}"#, false),
        (#"{"username":"root","password":"***"}"#, false),
        (#"{"url":"http://192.0.2.9.evil.example/","password":"***"}"#, false),
    ]) func theONVIFPasswordFollowsItsUserAndHost(patch: String, isKept: Bool) async throws {
        let before = #"{"source":"whip","onvif":{"url":"http://192.0.2.9/","username":"viewer","password":"hunter24"}}"#
        let result = try await self.change(before, patch: #"{"onvif":\#(patch)}"#)
        #expect(result.response.status == (isKept ? .ok : .badRequest), "\(result.response.text)")
        #expect(result.camera.onvif?.password == "hunter24")
        if !isKept {
            #expect(result.response.failure?.message.hasPrefix("onvif.password: ***") == true)
            #expect(result.camera.onvif?.url == "http://192.0.2.9/")
        }
    }

    @Test func valuesFromTheEnvironmentStayReferences() async throws {
        let folder = try TemporaryFolder()
        let environment = ["PW": "hunter22", "URL": "rtsp://viewer:hunter23@192.0.2.9/s"]
        try folder.directory.writePrivate(
            CameraStore.fileName,
            "cameras:\n  - {id: one, source: \"rtsp://viewer:${PW}@192.0.2.9/s\"}\n  - {id: two, source: \"${URL}\"}\n")
        let stored = try #require(try CameraStore(directory: folder.directory).read(environment: environment)?.cameras)
        func edited(_ index: Int, _ source: String) throws -> CameraEntry.Value? {
            try CameraEntry(values: ["source": .text(source)])
                .restoringSecrets(of: stored[index].entry, shownAs: stored[index].camera).values["source"]
        }
        #expect(try edited(0, "rtsp://viewer:***@192.0.2.9/s") == .text("rtsp://viewer:${PW}@192.0.2.9/s"))
        #expect(try edited(0, "rtsp://viewer:***@192.0.2.9/t") == .text("rtsp://viewer:${PW}@192.0.2.9/t"))
        #expect(try edited(1, "rtsp://viewer:***@192.0.2.9/s") == .text("${URL}"))
        #expect(try edited(1, "rtsp://viewer:***@192.0.2.9/t") == .text("rtsp://viewer:hunter23@192.0.2.9/t"))
    }

    private static func body(_ values: [String: String]) -> String {
        guard let data = try? JSONEncoder().encode(values) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}
