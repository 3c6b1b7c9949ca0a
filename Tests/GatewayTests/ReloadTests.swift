import Foundation
import HomeFakes
import HomeHub
import HomeTypes
import Logging
import Synchronization
import Testing
import Transport

@testable import Gateway

/// The config file and the file of the API's cameras, read again while the gateway runs.
@Suite struct ReloadTests {
    let folder: TemporaryFolder
    let cameras = FakeCameras()
    let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
    let secrets = SecretList()
    var file: String { folder.path + "/gatehouse.yaml" }

    init() throws { folder = try TemporaryFolder() }

    func write(_ yaml: String) throws {
        try yaml.write(toFile: file, atomically: true, encoding: .utf8)
    }

    func keeper(
        file: String?, configuration: GatewayConfiguration? = nil, cameras: FakeCameras? = nil
    ) throws -> ConfigurationKeeper {
        let configuration =
            try configuration
            ?? file.map {
                try GatewayConfiguration(contentsOfFile: $0, environment: [:])
            }
        return try ConfigurationKeeper(
            configuration: configuration ?? .demonstration, file: file,
            store: CameraStore(directory: folder.directory), cameras: cameras ?? self.cameras, hub: hub,
            secrets: secrets, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, environment: [:])
    }

    /// What a watcher learns about the config while the body runs.
    private func news(_ body: () async throws -> Void) async throws -> [ConfigurationSummary] {
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        try await body()
        await hub.take(HomeAlarm(.recordingStopped, .occurred, reason: "the watcher reads up to here", at: Date()))
        var news: [ConfigurationSummary] = []
        while let event = await events.next() {
            switch event.change {
            case .configuration(let summary)?: news.append(summary)
            case .alarm?: return news
            default: break
            }
        }
        return news
    }

    @Test func `each application of the config and each new problem is one event, and a look without news is none`()
        async throws
    {
        try write("http: {port: 9001}\n")
        let keeper = try self.keeper(file: file)
        // A client that continues after a restart knows what the earlier run answered.
        var news = try await self.news { await keeper.begin() }
        #expect(news.map(\.problems) == [0] && news.map(\.needsRestart) == [0])

        news = try await self.news {
            try write("http: {port: 9002}\ncameras:\n  - {id: a, source: whip}\n")
            await keeper.reload(because: "a test")
        }
        #expect(news.map(\.problems) == [0] && news.map(\.needsRestart) == [1])

        news = try await self.news {
            try write("cameras:\n  - {id: a, source: \"exec:x\"}\n")
            await keeper.reload(because: "a test")
        }
        #expect(news.map { $0.problems > 0 } == [true] && news.map(\.needsRestart) == [1])
        news = try await self.news {
            await keeper.reload(because: "the file still has the same problems")
            let (_, seen) = await keeper.lookAtFiles(seenBefore: [])
            #expect(await keeper.lookAtFiles(seenBefore: seen).hasChanged == false)
        }
        #expect(news.isEmpty)

        news = try await self.news {
            try write("http: {port: 9001}\n")
            await keeper.reload(because: "a test")
        }
        #expect(news.map(\.problems) == [0] && news.map(\.needsRestart) == [0])
    }

    @Test func `each change of a camera over the API is one event, and a change of nothing is none`() async throws {
        try write("cameras:\n  - {id: a, source: whip}\n")
        let keeper = try self.keeper(file: file)
        await keeper.begin()
        let rename = CameraEntry(values: ["name": .text("Gate")])
        let changes: [(count: Int, body: () async throws -> Void)] = [
            (1, { _ = try await keeper.put(CameraEntry(values: ["source": .text("whip")]), id: "b") }),
            (1, { _ = try await keeper.patch(rename, id: "b") }),
            (0, { _ = try await keeper.patch(rename, id: "b") }),
            (1, { try await keeper.remove("b") }),
            (1, { _ = try await keeper.patch(rename, id: "a") }),
            (1, { try await keeper.restoreFileEntry(of: "a") }),
            (0, { _ = await #expect(throws: HomeError.self) { try await keeper.remove("nobody") } }),
        ]
        for (number, change) in changes.enumerated() {
            let news = try await self.news(change.body)
            #expect(news.count == change.count, "change \(number)")
        }
    }

    /// The old events end what they have reported. Nobody else reports that to the home.
    @Test func `the home reads what the events of a camera have reported before it follows others`() async throws {
        let order = Locked<[String]>([])
        let cameras = FakeCameras { id in
            let camera = FakeCamera(id)
            camera.whenFollowed.withLock { $0 = { order.withLock { $0.append("followed") } } }
            camera.whenReportsApply.withLock { $0 = { order.withLock { $0.append("read") } } }
            return camera
        }
        // It has no device to wait for yet, and follows those that come.
        await hub.run()
        try write("cameras:\n  - {id: a, source: \"rtsp://192.0.2.1/\"}\n")
        let keeper = try self.keeper(file: file, cameras: cameras)
        await keeper.begin()
        #expect(order.withLock { $0 } == ["followed"])
        try write("cameras:\n  - {id: a, source: \"rtsp://192.0.2.2/\"}\n")
        await keeper.reload(because: "a test")
        #expect(order.withLock { $0 } == ["followed", "read", "followed"])
    }

    @Test func anEditIsAppliedAndABrokenOneChangesNothing() async throws {
        try write("cameras:\n  - {id: a, source: \"rtsp://192.0.2.1/\"}\n")
        let keeper = try self.keeper(file: file)
        await keeper.begin()
        #expect(await hub.devices().map(\.key) == ["a"])

        try write(
            "cameras:\n  - {id: b, source: \"rtsp://u:hunter2222@192.0.2.2/\"}\n  - {id: a, source: \"rtsp://192.0.2.1/\"}\n"
        )
        await keeper.reload(because: "a test")
        #expect(await hub.devices().map(\.key) == ["b", "a"])
        #expect(secrets.all.contains("hunter2222"))

        try write("cameras:\n  - {id: b, source: \"exec:x\"}\n  - {id: c, source: whip}\n")
        await keeper.reload(because: "a test")
        #expect(await hub.devices().map(\.key) == ["b", "a"])
        let problem = try #require(await keeper.configurationStatus.problems.first)
        #expect(problem.file == file && problem.line == 2 && problem.key == "cameras[0].source")
        #expect(await cameras.applied.count == 2)

        try write("cameras: []\n")
        await keeper.reload(because: "a test")
        #expect(await keeper.configurationStatus.problems.isEmpty)
        #expect(await hub.devices().isEmpty)
        // A file that is gone is a broken one, too.
        try FileManager.default.removeItem(atPath: file)
        await keeper.reload(because: "a test")
        #expect(await keeper.configurationStatus.problems.first?.reason == "the file does not exist")
    }

    @Test func changesThatNeedARestartAreReported() async throws {
        try write("http: {port: 9001}\n")
        let keeper = try self.keeper(file: file)
        await keeper.begin()
        #expect(await keeper.configurationStatus.needsRestart.isEmpty)
        try write("http: {port: 9002}\nstateDirectory: other\nmedia: {port: 9003}\nrtsp: {}\nrtmp: {}\n")
        await keeper.reload(because: "a test")
        #expect(
            await keeper.configurationStatus.needsRestart
                == ["http.port", "media.port", "stateDirectory", "rtsp", "rtmp"])
        try write("http: {port: 9001}\n")
        await keeper.reload(because: "a test")
        #expect(await keeper.configurationStatus.needsRestart.isEmpty)
    }

    @Test func `a change of the network, of the page's frames and of go2rtc's API needs a restart`() async throws {
        try write("")
        let keeper = try self.keeper(file: file)
        await keeper.begin()
        try write(
            "http: {publicURL: \"https://home.example\", frameAncestors: [self]}\n"
                + "network: {mdns: porch, portMapping: true}\ngo2rtc: true\n")
        await keeper.reload(because: "a test")
        #expect(
            await keeper.configurationStatus.needsRestart == [
                "http.publicURL", "http.frameAncestors", "network.mdns", "network.portMapping", "go2rtc",
            ])
    }

    @Test func theFilesAreReadWhenTheyHaveRested() async throws {
        try write("cameras: []\n")
        let keeper = try self.keeper(file: file)
        await keeper.begin()
        var (changed, seen) = await keeper.lookAtFiles(seenBefore: [])
        (changed, seen) = await keeper.lookAtFiles(seenBefore: seen)
        #expect(!changed)
        try write("cameras:\n  - {id: a, source: whip}\n")
        (changed, seen) = await keeper.lookAtFiles(seenBefore: seen)
        #expect(!changed)
        (changed, seen) = await keeper.lookAtFiles(seenBefore: seen)
        #expect(changed)
        await keeper.reload(because: "a test")
        (changed, seen) = await keeper.lookAtFiles(seenBefore: seen)
        #expect(!changed)
    }

    @Test func camerasOfTheAPISurviveARestartAndTheConfigFileWins() async throws {
        try write("cameras:\n  - {id: a, source: whip}\n")
        let first = try keeper(file: file)
        await first.begin()
        let source = CameraEntry.Value.text("rtsp://u:p%40ss@192.0.2.2/")
        _ = try await first.put(
            CameraEntry(values: ["source": source, "talkback": .text("off"), "webhook": .flag(true)]), id: "b")
        let permissions = try FileManager.default.attributesOfItem(
            atPath: folder.directory.file("cameras.yaml"))[.posixPermissions]
        #expect(permissions as? Int == 0o600)

        let second = try keeper(file: file)
        await second.begin()
        let entries = await second.entries
        #expect(entries.map(\.camera.id) == ["a", "b"])
        #expect(entries.map(\.origin) == [.file, .api])
        #expect(entries[1].camera.source == .rtsp("rtsp://u:p%40ss@192.0.2.2/"))
        #expect(entries[1].camera.talkback == .off && entries[1].camera.acceptsWebhook)

        try write("cameras:\n  - {id: b, name: Mine, source: whip}\n")
        await second.reload(because: "a test")
        #expect(await second.entries.map(\.origin) == [.file])
        #expect(await second.notes == [.inBothFiles(camera: "b")])
        try write("cameras: []\n")
        await second.reload(because: "a test")
        #expect(await second.entries.map(\.camera.name) == ["b"])
    }

    @Test func theBuiltInDoorbellCanBeRemoved() async throws {
        let keeper = try self.keeper(file: nil)
        await keeper.begin()
        #expect(await keeper.entries.map(\.origin) == [.builtin])
        _ = try await keeper.put(CameraEntry(values: ["source": .text("whip")]), id: "phone")
        #expect(await keeper.entries.map(\.camera.id) == ["front-door", "phone"])
        #expect(
            await keeper.entries.map(\.camera.source).first == GatewayConfiguration.demonstration.cameras.first?.source)
        try await keeper.remove("front-door")
        #expect(await hub.devices().map(\.key) == ["phone"])
        try await keeper.remove("phone")
        // Nobody's wish for no camera at all is forgotten by a restart.
        let next = try self.keeper(file: nil)
        await next.begin()
        #expect(await next.entries.isEmpty)
    }

    @Test func aDamagedFileOfTheAPIsCamerasIsNamed() async throws {
        try folder.directory.writePrivate("cameras.yaml", "cameras:\n  - {id: a, source: nonsense}\n")
        let error = #expect(throws: ConfigurationError.self) { try keeper(file: nil) }
        #expect(error?.description.contains("cameras.yaml: line 2: cameras[0].source") == true)
        try folder.directory.writePrivate("cameras.yaml", "http: {port: 1}\n")
        #expect(throws: ConfigurationError.self) { try keeper(file: nil) }
    }

    @Test func anEditOfTheConfigIsReadEvenIfTheAPIWritesMeanwhile() async throws {
        try write("cameras: []\n")
        let keeper = try self.keeper(file: file)
        await keeper.begin()
        try write("cameras:\n  - {id: a, source: whip}\n")
        _ = try await keeper.put(CameraEntry(values: ["source": .text("whip")]), id: "b")
        var (changed, seen) = await keeper.lookAtFiles(seenBefore: [])
        (changed, seen) = await keeper.lookAtFiles(seenBefore: seen)
        #expect(changed)
        await keeper.reload(because: "a test")
        (changed, seen) = await keeper.lookAtFiles(seenBefore: seen)
        #expect(!changed)
        #expect(await keeper.entries.map(\.camera.id) == ["a", "b"])
    }

    @Test func anEditOfTheConfigWhileTheGatewayStartsIsRead() async throws {
        try write("cameras: []\n")
        let early = try GatewayConfiguration(contentsOfFile: file, environment: [:])
        try write("cameras:\n  - {id: a, source: whip}\n")
        let keeper = try self.keeper(file: file, configuration: early)
        await keeper.begin()
        #expect(await keeper.entries.isEmpty)
        let (_, seen) = await keeper.lookAtFiles(seenBefore: [])
        #expect(await keeper.lookAtFiles(seenBefore: seen).hasChanged)
        await keeper.reload(because: "a test")
        #expect(await keeper.entries.map(\.camera.id) == ["a"])
        #expect(await keeper.lookAtFiles(seenBefore: seen).hasChanged == false)
    }

    @Test func anEditByHandIsNotOverwritten() async throws {
        let keeper = try self.keeper(file: nil)
        await keeper.begin()
        let entry = CameraEntry(values: ["source": .text("whip")])
        _ = try await keeper.put(entry, id: "a")
        let byHand = "cameras:\n  - {id: hand, source: whip}\n"
        try folder.directory.writePrivate("cameras.yaml", byHand)
        let error = await #expect(throws: HomeError.self) { try await keeper.put(entry, id: "b") }
        #expect(error?.code == .failedPrecondition && error?.message.contains("try again in a second") == true)
        await #expect(throws: HomeError.self) { try await keeper.remove("a") }
        #expect(try folder.directory.readPrivate("cameras.yaml") == byHand)
        await keeper.reload(because: "a test")
        _ = try await keeper.put(entry, id: "b")
        #expect(await keeper.entries.map(\.camera.id) == ["hand", "b"])

        let broken = "cameras:\n  - {id: hand, source: nonsense}\n"
        try folder.directory.writePrivate("cameras.yaml", broken)
        await keeper.reload(because: "a test")
        let second = await #expect(throws: HomeError.self) { try await keeper.put(entry, id: "c") }
        #expect(second?.code == .failedPrecondition && second?.requestMessage.contains("/v1/configuration") == true)
        #expect(try folder.directory.readPrivate("cameras.yaml") == broken)
        try folder.directory.writePrivate("cameras.yaml", byHand)
        await keeper.reload(because: "a test")
        _ = try await keeper.put(entry, id: "c")
        #expect(await keeper.entries.map(\.camera.id) == ["hand", "c"])
        #expect(await keeper.configurationStatus.problems.isEmpty)
    }

    @Test func noMoreIsWrittenThanTheNextStartReads() async throws {
        let name = String(repeating: "x", count: 104_700)
        let cameras = (0..<10).map { "  - {id: c\($0), source: whip, name: \(name)}\n" }
        try folder.directory.writePrivate("cameras.yaml", "cameras:\n" + cameras.joined())
        let keeper = try self.keeper(file: nil)
        await keeper.begin()
        let entry = CameraEntry(values: ["source": .text("whip"), "name": .text(String(repeating: "y", count: 2_000))])
        let error = await #expect(throws: HomeError.self) { try await keeper.put(entry, id: "more") }
        #expect(error?.code == .resourceExhausted)
        #expect(await keeper.entries.count == 10)
        #expect(try await self.keeper(file: nil).entries.count == 10)
        try await keeper.remove("c0")
        _ = try await keeper.put(entry, id: "more")
        #expect(try await self.keeper(file: nil).entries.count == 10)
    }

    @Test func anEmptyListItemIsAProblemAndMixesUpNoCameras() async throws {
        try folder.directory.writePrivate(
            "cameras.yaml", "cameras:\n  -\n  - {id: a, source: whip}\n  - ~\n  - {id: b, source: whip}\n")
        let error = #expect(throws: ConfigurationError.self) { try keeper(file: nil) }
        #expect(error?.problems.map(\.key) == ["cameras[0]", "cameras[2]"])
        #expect(error?.problems.map(\.line) == [2, 4])
    }

    @Test func eachCameraHasItsOwnEntryWhateverItsIdLooksLike() throws {
        try folder.directory.writePrivate(
            "cameras.yaml",
            "cameras:\n  - {id: true, name: A, source: whip}\n  - {id: 7, name: B, source: whip}\n"
                + "  - {name: C, source: whip, id: \"c\"}\n")
        let stored = try #require(try CameraStore(directory: folder.directory).read(environment: [:])?.cameras)
        #expect(stored.map(\.camera.id) == ["true", "7", "c"])
        #expect(stored.map(\.entry.values["name"]) == [.text("A"), .text("B"), .text("C")])
        #expect(stored.allSatisfy { $0.entry.values["id"] == nil })
    }

    @Test func concurrentCommandsAllTakeEffect() async throws {
        let keeper = try self.keeper(file: nil)
        await keeper.begin()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    _ = try? await keeper.put(CameraEntry(values: ["source": .text("whip")]), id: "c\(number)")
                }
                group.addTask { await keeper.reload(because: "a test") }
            }
        }
        #expect(await keeper.entries.count == 41)
        #expect(await hub.devices().count == 41)
    }
}

@Suite struct CameraAddressTests {
    @Test(arguments: [
        ("rtsp://h/", "rtsp://h/", []),
        ("rtsp://u@h/", "rtsp://u@h/", []),
        ("rtsp://u:p%40s@h:554/x", "rtsp://u:***@h:554/x", ["p%40s", "p@s"]),
        ("rtsp://u:a:b@h@i/", "rtsp://u:***@i/", ["a:b@h"]),
        ("rtsp://h/?user=a&password=b&channel=1", "rtsp://h/?user=a&password=***&channel=1", ["b"]),
        ("rtsp://h/user=admin_password=x_y&stream=0", "rtsp://h/user=admin_password=***&stream=0", ["x_y"]),
        ("rtsp://h/?Token=abc#d", "rtsp://h/?Token=***#d", ["abc"]),
        ("rtsp://u:p/a@h/x", "rtsp://u:***@h/x", ["p/a"]),
        ("rtsp://u:p?a@h/x", "rtsp://u:***@h/x", ["p?a"]),
        ("rtsps://u:p#a/b?c@h:322/x?token=d", "rtsps://u:***@h:322/x?token=***", ["p#a/b?c", "d"]),
        ("onvif://u:p/a@h", "onvif://u:***@h", ["p/a"]),
        ("onvif://u:p?a@h:8080/x", "onvif://u:***@h:8080/x", ["p?a"]),
        ("rtsp://h:554/a@b", "rtsp://h:***@b", ["554/a"]),
        ("rtsp://admin:12/34@127.0.0.1:18555/x?pwd=c", "rtsp://admin:***@127.0.0.1:18555/x?pwd=***", ["12/34", "c"]),
        ("rtsp://admin:1234?a@h", "rtsp://admin:***@h", ["1234?a"]),
        ("rtsp://u:p@ss/w@h", "rtsp://u:***@h", ["p@ss/w"]),
        ("http://admin:12/34@h", "http://admin:***@h", ["12/34"]),
        ("onvif://admin:12/34@h", "onvif://admin:***@h", ["12/34"]),
        ("hls+http://admin:12/34@h/", "hls+http://admin:***@h/", ["12/34"]),
        ("rtmp://admin:12/34@h/a", "rtmp://admin:***@h/a", ["12/34"]),
        ("rtsp://192.0.2.1:554/a@b", "rtsp://192.0.2.1:554/a@b", []), ("rtsp://h/a@b", "rtsp://h/a@b", []),
        ("whip", "whip", []), ("", "", []), ("rtsp://u:@h/?pwd=", "rtsp://u:@h/?pwd=", []),
    ])
    func secretsOfAddressesAreFound(_ text: String, _ masked: String, _ secrets: [String]) {
        #expect(CameraAddress(text: text).masked == masked)
        #expect(CameraAddress(text: text).secrets == secrets)
    }
}
