import HomeTypes
import Testing

@testable import PushAvStreamTransport

/// The numbers of sessions, which are folders at the receiver of uploads.
extension TransportServiceTests {
    @Test("A session that follows a cut one has its own number, even after a restart")
    func numbersOfCutSessions() throws {
        let rig = TransportServiceRig()
        var service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .continuous)])
        #expect(rig.log == ["begin door 1 number 1 continuous recording"])
        #expect(service.nextSessionNumber(on: 1, of: "door") == 2)
        #expect(service.nextSessionNumber(on: 1, of: "door") == 3)
        #expect(service.nextSessionNumber(on: 1, of: "attic") == nil)
        service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .continuous)])
        #expect(rig.log == ["begin door 1 number 4 continuous recording"])
    }

    /// A camera with two connections of one principal, which are active.
    private func service(
        _ rig: TransportServiceRig, _ first: TransportOptions, _ second: TransportOptions
    ) async throws -> TransportService {
        let service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection(trigger: .command)])
        service.describe("door", Fixture.streams)
        for (options, id) in [(first, UInt16(2)), (second, UInt16(3))] {
            try await service.change("door") { table, camera, now throws(TransportFault) in
                _ = try table.allocate(options, for: Fixture.me, of: camera, at: now)
                try table.setStatus(id, .active, for: Fixture.me)
            }
        }
        return service
    }

    private static func options(
        _ type: TransportTriggerType, _ picture: String, at url: String = "https://ingest.example/in/",
        _ interface: Google.PushAvStreamTransportTrait.CMAFInterfaceEnum = .interface1
    ) -> TransportOptions {
        var options = Fixture.options(type)
        (options.videoStreamID, options.audioStreamID) = (nil, nil)
        options.videoStreams = [.init(videoStreamName: picture, videoStreamID: 1)]
        options.url = url
        options.containerOptions.cmafContainerOptions?.cmafInterface = interface
        if type == .motion { options.triggerOptions.motionTimeControl?.blindDuration = 0 }
        return options
    }

    @Test("A connection that has used a number beside another one takes a new one for its next recording")
    func numbersBesideAContinuousRecording() async throws {
        let rig = TransportServiceRig()
        let service = try await service(
            rig, Self.options(.continuous, "all"), Self.options(.motion, "event"))
        for _ in 0..<3 {
            service.take(.motion("e"), of: "door")
            service.settle()
            rig.pass(40)
        }
        let log = rig.log.filter { $0.hasPrefix("begin") }
        #expect(
            log == [
                "begin door 2 number 1 continuous recording", "begin door 3 number 1 motion",
                "begin door 3 number 2 motion", "begin door 3 number 3 motion",
            ])
        #expect(service.nextSessionNumber(on: 2, of: "door") == 4)
    }

    private static let shared: [(first: TransportOptions, second: TransportOptions, isShared: Bool)] = [
        (options(.continuous, "a"), options(.continuous, "b"), true),
        (options(.continuous, "a"), options(.continuous, "a"), false),
        (options(.continuous, "a"), options(.continuous, "A"), false),
        (options(.continuous, "a"), options(.continuous, "a", at: "https://ingest.example/other/"), true),
        (options(.continuous, "a"), options(.continuous, "a", at: "https://INGEST.example/in/"), false),
        // A manifest is at one place for all tracks.
        (
            options(.continuous, "a", at: "https://ingest.example/in/", .interface2DASH),
            options(.continuous, "b", at: "https://ingest.example/in/", .interface2DASH), false
        ),
    ]

    @Test("Connections share a number unless their objects would have the same address", arguments: shared.indices)
    func sharedNumbers(_ index: Int) async throws {
        let (first, second, isShared) = Self.shared[index]
        let rig = TransportServiceRig()
        _ = try await service(rig, first, second)
        let log = rig.log.filter { $0.hasPrefix("begin") }
        #expect(
            log == [
                "begin door 2 number 1 continuous recording",
                "begin door 3 number \(isShared ? 1 : 2) continuous recording",
            ])
    }
}
