import Dispatch
import ONVIF
import RTSP
import Testing
import Transport

@testable import Cameras

/// The two streams of a camera that is named by its ONVIF device service.
@Suite(.timeLimit(.minutes(10))) struct ONVIFSubstreamTests {
    private static let lacksStream = SourceState.givenUp(
        until: .distantFuture, failures: 1, reason: .onvif(.noSecondProfile))

    /// The sources of a camera's two streams, with what they do.
    private struct World {
        let camera: CameraSimulator
        let main: ONVIFSource
        let sub: ONVIFSource
        /// The paths of the streams that are pulled, with `main` or `sub` before them, as they are started.
        let started: AsyncStream<String>
        let asked: Locked<[String]>

        /// What the camera does when it is asked for the address of the second stream.
        enum SecondAnswer { case given, afterMainHasStarted, never }

        init(profiles: [String], second: SecondAnswer = .given) throws {
            let (started, starts) = AsyncStream<String>.makeStream()
            let asked = Locked<[String]>([])
            let count = Locked(0)
            let hasStarted = DispatchSemaphore(value: 0)
            camera = try ONVIFSourceTests.device(profiles: profiles, asked: asked) {
                let number = count.withLock { count -> Int in
                    count += 1
                    return count
                }
                if number == 2, second == .never { return nil }
                if number == 2, second == .afterMainHasStarted,
                    hasStarted.wait(timeout: .now() + .seconds(60)) == .timedOut
                {
                    return "rtsp://10.0.0.9/late"
                }
                return "rtsp://10.0.0.9/\(number)"
            }
            main = try ONVIFSource(
                address: "onvif://u:p@127.0.0.1:\(camera.port)", stream: .main, answerTimeout: Self.patience
            ) { url in
                StartedSource(url) {
                    starts.yield("main \($0)")
                    hasStarted.signal()
                }
            }
            sub = ONVIFSource(substreamOf: main) { url in StartedSource(url) { starts.yield("sub \($0)") } }
            self.started = started
            self.asked = asked
        }

        /// A camera that waits for a processor is not away.
        static let patience = Duration.seconds(3_600)

        /// How often the camera was asked for something.
        func count(_ action: String) -> Int { asked.withLock { $0.count { $0.contains(action) } } }

        func stop() {
            main.stop()
            sub.stop()
            camera.stop()
        }
    }

    /// A source that reports its start.
    private final class StartedSource: CameraSource {
        let source: RTSPSource
        let path: String
        let report: @Sendable (String) -> Void
        init(_ url: RTSPURL, _ report: @escaping @Sendable (String) -> Void) {
            source = RTSPSource(url: url)
            path = url.path
            self.report = report
        }
        var speaker: (any CameraSpeaker)? { nil }
        var logins: CameraLogins? { source.logins }
        func share(_ logins: CameraLogins) { report("shares") }
        func start(sink: any CameraSink) { report(path) }
        func stop() {}
        func requestKeyFrame(track: Int) {}
    }

    @Test func aCameraIsAskedOnceForBothStreams() async throws {
        let world = try World(profiles: [
            ONVIFSourceTests.profile("large", "H265", width: 3_840), ONVIFSourceTests.profile("small", width: 640),
        ])
        defer { world.stop() }
        let sink = RecordingSink()
        // The smaller one waits for the answer, even if it begins first.
        world.sub.start(sink: sink)
        world.main.start(sink: RecordingSink())
        var seen: Set<String> = []
        for await start in world.started {
            seen.insert(start)
            if seen.count == 3 { break }
        }
        // The camera counts the logins of both streams together, and so does the gateway.
        #expect(seen == ["main /1", "sub /2", "sub shares"])
        #expect(world.count("GetProfiles") == 1 && world.count("GetStreamUri") == 2)
    }

    @Test func theMainStreamDoesNotWaitForTheAddressOfTheSmallerOne() async throws {
        let world = try World(
            profiles: [ONVIFSourceTests.profile("large", width: 1_920), ONVIFSourceTests.profile("small", width: 640)],
            second: .afterMainHasStarted)
        defer { world.stop() }
        world.main.start(sink: RecordingSink())
        world.sub.start(sink: RecordingSink())
        var streams: [String] = []
        for await start in world.started where start != "sub shares" {
            streams.append(start)
            if streams.count == 2 { break }
        }
        // Where the main stream waits, the camera gives up in the end and names another address.
        #expect(streams == ["main /1", "sub /2"])
        #expect(world.count("GetStreamUri") == 2)
    }

    @Test func aMainStreamStopsWhileTheCameraIsSilentAboutTheSmallerOne() async throws {
        let world = try World(
            profiles: [ONVIFSourceTests.profile("large", width: 1_920), ONVIFSourceTests.profile("small", width: 640)],
            second: .never)
        defer { world.stop() }
        let (main, sub) = (RecordingSink(), RecordingSink())
        world.sub.start(sink: sub)
        world.main.start(sink: main)
        var starts = world.started.makeAsyncIterator()
        let first = await starts.next()
        for _ in 0..<2 {
            let question = await world.camera.note { note in
                guard case .request(let request) = note else { return false }
                return request.header("content-type")?.contains("GetStreamUri") ?? false
            }
            #expect(question != nil)
        }
        world.main.stop()
        world.sub.stop()
        // Nobody was informed that the smaller stream has failed.
        let states = (main: await main.rest().states, sub: await sub.rest().states)
        #expect(first == "main /1" && states.main == [.describing, .stopped] && states.sub == [.describing, .stopped])
    }

    @Test func aProbeWaitsForTheAnswerAboutTheSmallerStream() async throws {
        let world = try World(profiles: [
            ONVIFSourceTests.profile("large", width: 1_920), ONVIFSourceTests.profile("small", width: 640),
        ])
        defer { world.stop() }
        let (started, starts) = AsyncStream<Bool?>.makeStream()
        let probed = Locked<ONVIFSource?>(nil)
        let source = try ONVIFSource(
            address: "onvif://127.0.0.1:\(world.camera.port)", stream: .main, answerTimeout: World.patience
        ) { url in
            StartedSource(url) { _ in starts.yield(probed.withLock { $0 }?.hasSubstream) }
        }
        probed.withLock { $0 = source }
        source.lookForSubstream()
        source.start(sink: RecordingSink())
        var answers = started.makeAsyncIterator()
        let hasSubstream = await answers.next()
        probed.withLock { $0 = nil }
        source.stop()
        #expect(hasSubstream == .some(.some(true)))
    }

    @Test func aCameraWithOneStreamIsNotAskedAgain() async throws {
        let world = try World(profiles: [
            ONVIFSourceTests.profile("only", width: 1_920), ONVIFSourceTests.profile("stills", "JPEG", width: 640),
        ])
        defer { world.stop() }
        let sink = RecordingSink()
        world.main.start(sink: RecordingSink())
        world.sub.start(sink: sink)
        let items = await sink.take { $0 == .event(.state(Self.lacksStream)) }
        #expect(items.states == [.describing, Self.lacksStream])
        world.sub.stop()
        #expect(await sink.rest().states == [.stopped])
        #expect(world.count("GetProfiles") == 1 && world.count("GetStreamUri") == 1)
    }

    @Test func aSourceThatStartsAgainWaitsForANewAnswer() async throws {
        let world = try World(profiles: [ONVIFSourceTests.profile("only", width: 1_920)])
        defer { world.stop() }
        for times in 1...2 {
            let sink = RecordingSink()
            world.main.start(sink: RecordingSink())
            world.sub.start(sink: sink)
            let items = await sink.take { $0 == .event(.state(Self.lacksStream)) }
            #expect(items.states.last == Self.lacksStream && world.count("GetProfiles") == times)
            world.main.stop()
            world.sub.stop()
        }
    }

    @Test func oneStreamAloneIsAskedForNoOther() async throws {
        let world = try World(profiles: [
            ONVIFSourceTests.profile("large", width: 1_920), ONVIFSourceTests.profile("small", width: 640),
        ])
        defer { world.stop() }
        let (started, starts) = AsyncStream<String>.makeStream()
        let alone = try ONVIFSource(
            address: "onvif://127.0.0.1:\(world.camera.port)", stream: .main, answerTimeout: World.patience
        ) { url in
            StartedSource(url) { starts.yield($0) }
        }
        alone.start(sink: RecordingSink())
        var paths = started.makeAsyncIterator()
        let path = await paths.next()
        alone.stop()
        #expect(path == "/1" && alone.hasSubstream == nil)
        #expect(world.count("GetStreamUri") == 1)
    }
}
