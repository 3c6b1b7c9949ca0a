import Gateway
import Testing

@testable import Migration

/// What the owner learns before other devices see the cameras.
@Suite struct ImportedConfigurationTests {
    private static let texts = [
        "streams: {a: 'rtsp://192.0.2.60/1'}", "paths: {a: {source: 'rtsp://192.0.2.60/1'}}",
        "cameras: {a: {ffmpeg: {inputs: [{path: 'rtsp://192.0.2.60/1', roles: [detect]}]}}}",
    ]

    private static let noCamera = "streams: {a: 'exec:true'}"

    @Test(arguments: Self.texts)
    func `the page is for this machine alone, and a remark says how to open it`(text: String) throws {
        let (imported, configuration) = try imported(text)
        #expect(configuration.http.host == "127.0.0.1" && configuration.http.https?.host == nil)
        let remark = imported.remarks.first { $0.key == "http" }
        #expect(remark?.line == 0 && remark?.text.contains("--open") == true)
    }

    @Test(arguments: Self.texts)
    func `an import that opens the page does so over HTTPS alone`(text: String) throws {
        let imported = try ConfigurationImport.read(Array(text.utf8), isOpen: true)
        let configuration = try GatewayConfiguration(yaml: imported.yaml(from: "old.yaml"), environment: [:])
        #expect(configuration.http.host == "127.0.0.1" && configuration.http.https?.host == "0.0.0.0")
        #expect(!imported.remarks.contains { $0.key == "http" })
    }

    @Test(arguments: [(Self.texts[0], true), (Self.texts[1], false), (Self.texts[2], true), (Self.noCamera, false)])
    func `Home Assistant goes on where it showed the cameras through go2rtc`(text: String, offers: Bool) throws {
        let (imported, configuration) = try imported(text)
        #expect(configuration.offersGo2RTC == offers)
        let remark = imported.remarks.first { $0.key == "go2rtc" }
        #expect((remark != nil) == offers)
        #expect(remark?.text.contains("gatehouse token create home-assistant") != false)
    }

    @Test func `the variables of the config are named, and literal texts are not`() throws {
        let text = """
            streams:
              a: rtsp://u:${B_PASSWORD}@192.0.2.61/${A_PATH:main}
              b: rtsp://u:${B_PASSWORD}@192.0.2.61/sub
            """
        let (imported, _) = try imported(text, environment: ["B_PASSWORD": "x", "A_PATH": "y"])
        #expect(imported.variables == ["A_PATH", "B_PASSWORD"])
        let remark = imported.remarks.first { $0.key.isEmpty }
        #expect(remark?.text.contains("A_PATH, B_PASSWORD. The Debian package's service reads them") == true)
        var literal = ImportedConfiguration()
        literal.cameras = [.init(id: "a", name: "A", source: "rtsp://u:p$${X}@192.0.2.61/1")]
        #expect(literal.variables.isEmpty)
    }
}
