import Cameras
import HTTPMedia
import Logging
import RTSP
import Stations
import Testing

@testable import Gateway

@Suite struct SourceMakerTests {
    let folder: TemporaryFolder
    let maker: SourceMaker

    init() throws {
        self.folder = try TemporaryFolder()
        self.maker = SourceMaker(
            profiles: ProfileStore(
                directory: self.folder.directory, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
            masksSecrets: { CameraAddress(text: $0).masked })
    }

    private func camera(_ source: String, _ more: String = "") throws -> CameraSettings {
        let yaml = "cameras: [{id: yard, source: \"\(source)\"\(more.isEmpty ? "" : ", ")\(more)}]"
        let configuration = try GatewayConfiguration(yaml: yaml, file: "c.yaml", directory: "/", environment: [:])
        return CameraSettings(try #require(configuration.cameras.first))
    }

    @Test func aSubstreamMakesAPair() throws {
        let alone = try maker.source(for: try camera("rtsp://192.0.2.1/1"))
        #expect(alone is RTSPSource)
        let pair = try #require(
            try maker.source(
                for: try camera("rtsp://u:p@192.0.2.1/1", "substream: \"rtsp://u:p@192.0.2.1/2\""))
                as? MultiStreamSource)
        #expect((pair.main as? RTSPSource)?.url.path == "/1")
        #expect((pair.substream as? RTSPSource)?.url.path == "/2")
    }

    @Test func anONVIFCameraIsAskedForItsSubstream() throws {
        let address = "onvif://u:p@192.0.2.1:8000"
        for settings in ["", "substream: onvif"] {
            let pair = try #require(try maker.source(for: try camera(address, settings)) as? MultiStreamSource)
            #expect(pair.main is ONVIFSource && pair.substream is ONVIFSource)
        }
        #expect(try maker.source(for: try camera(address, "substream: none")) is ONVIFSource)
        #expect(try maker.source(for: try camera("rtsp://192.0.2.1/", "substream: none")) is RTSPSource)
        let mixed = try #require(
            try maker.source(for: try camera(address, "substream: \"rtsp://192.0.2.1/2\""))
                as? MultiStreamSource)
        #expect(mixed.main is ONVIFSource && mixed.substream is RTSPSource)
        #expect(throws: ConfigurationError.self) { try camera("rtsp://192.0.2.1/", "substream: onvif") }
        #expect(throws: ConfigurationError.self) { try camera("builtin:doorbell", "substream: onvif") }
    }

    @Test func aCameraThatSendsPicturesIsASourceOfItsOwn() throws {
        let source = try maker.source(for: try camera("http://u:p@192.0.2.1:81/stream", "framesPerSecond: 5"))
        #expect((source as? PictureSource)?.address.url == "http://192.0.2.1:81/stream")
        let problem = #expect(throws: ConfigurationError.self) { try camera("rtsp://192.0.2.1/", "framesPerSecond: 5") }
        #expect(problem?.problems.map(\.reason).first?.contains("http://") == true)
        for wrong in ["0", "31", "often", "-1", "nan"] {
            #expect(throws: ConfigurationError.self) {
                try camera("http://192.0.2.1/", "framesPerSecond: \(wrong)")
            }
        }
        #expect(throws: ConfigurationError.self) {
            try camera("http://192.0.2.1/", "substream: \"rtsp://192.0.2.1/2\"")
        }
    }

    @Test func findingsComeFromWithin() throws {
        let pair = try maker.source(
            for: try camera("rtsp://u:p@192.0.2.1/1", "substream: \"rtsp://u:p@192.0.2.1/2\""))
        #expect(pair.report?.notes == [.substreamState(.idle, transport: nil)])
        // Nothing is known about a camera that has not announced its address yet.
        #expect(try maker.source(for: try camera("onvif://192.0.2.1", "substream: none")).report == nil)
        #expect(BuiltInCamera(.init(name: "Door")).report == nil)
    }
}
