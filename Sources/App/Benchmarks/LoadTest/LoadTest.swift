import DTLS
import DatagramPort
import Foundation
import Glibc
import LiveViewClient
import Transport

/// Drives any WHEP server with many viewers that count what they receive.
///
/// Each viewer is a whole WebRTC client on its own socket. One thread for each core runs them (one thread if they are
/// sequential). They decode nothing.
public struct LoadTest: Sendable {
    /// The WHEP endpoints. The viewers are spread over them in turn.
    public var urls: [String]
    /// The bearer token, if the server wants one.
    public var token: String?
    /// How many viewers.
    public var count = 1
    /// How long to watch after the last one has started.
    public var duration = Duration.seconds(10)
    /// The time between two starts.
    public var stagger = Duration.milliseconds(20)
    /// Whether each viewer leaves when it has its first key frame, and the next one starts then.
    public var isSequential = false
    /// With ``isSequential``: whether each viewer stays until it has caught up with the camera, and starts at a random
    /// moment, so that the starts fall on every place between two key frames.
    public var awaitsLivePicture = false
    /// Whether every address of this host, and not only loopback, is offered to a server on loopback.
    public var offersAllAddresses = false
    /// The server's process, to measure what it uses.
    public var process: Int32?
    /// At most this many offers wait for their answer at once.
    private static let mostPending = 32
    /// How long a viewer stays to learn the camera's pace.
    private static let timeAtCamerasPace = Duration.seconds(2)
    /// How long a start may take.
    private static let patience = Duration.seconds(10)

    /// Directs the test at `urls`, one or more.
    public init(urls: [String]) {
        self.urls = urls
    }

    /// Runs the test.
    public func run() async throws -> LoadTestReport {
        guard !urls.isEmpty else { throw BenchmarkFailure("a load test needs the address of a server") }
        Self.raiseFileLimit()
        // One thread would be a queue of its own: with 1,000 viewers, the last one's packets would wait for all others.
        let loops = try (0..<(isSequential ? 1 : max(1, ProcessInfo.processInfo.activeProcessorCount))).map { _ in
            try ViewerLoop()
        }
        defer { for loop in loops { loop.stop() } }
        let identity = try DTLSIdentity.generate()
        let before = try process.map { identifier in try ProcessUsage(process: identifier) }
        var viewers: [LoadTestViewer] = []
        var measured = Measured()
        if isSequential {
            for index in 0..<count {
                let viewer = makeViewer(index)
                if awaitsLivePicture { try await Task.sleep(for: .milliseconds(Int.random(in: 0..<1_000))) }
                await viewer.start(self, loop: loops[0], identity: identity)
                await viewer.requireKeyFrame(Self.patience)
                // Only frames at the camera's pace show which of those before had waited.
                if awaitsLivePicture { try await Task.sleep(for: Self.timeAtCamerasPace) }
                await viewer.stop()
                viewers.append(viewer)
            }
        } else {
            viewers = await start(loops, identity)
            // The measured time starts when the starts are over and their backlogs have arrived.
            for viewer in viewers { await viewer.awaitKeyFrame(.seconds(3)) }
            try await Task.sleep(for: .seconds(1))
            measured = try await measure(viewers, before: before)
        }
        let report = await makeReport(viewers, measured)
        if !isSequential { await stop(viewers) }
        return report
    }

    private func makeViewer(_ index: Int) -> LoadTestViewer {
        LoadTestViewer(url: urls[index % urls.count])
    }

    private func start(_ loops: [ViewerLoop], _ identity: DTLSIdentity) async -> [LoadTestViewer] {
        let viewers = (0..<count).map(makeViewer)
        await withTaskGroup(of: Void.self) { group in
            for (index, viewer) in viewers.enumerated() {
                if index >= Self.mostPending { await group.next() }
                group.addTask { await viewer.start(self, loop: loops[index % loops.count], identity: identity) }
                try? await Task.sleep(for: stagger)
            }
        }
        return viewers
    }

    private func stop(_ viewers: [LoadTestViewer]) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, viewer) in viewers.enumerated() {
                if index >= Self.mostPending { await group.next() }
                group.addTask { await viewer.stop() }
            }
        }
    }

    /// The results of the measured time.
    struct Measured {
        var seconds = 0.0
        var packets: UInt64 = 0
        var bytes: UInt64 = 0
        var server: LoadTestReport.Server?
    }

    private func measure(_ viewers: [LoadTestViewer], before: ProcessUsage?) async throws -> Measured {
        var result = Measured()
        let usageAtStart = try process.map { identifier in try ProcessUsage(process: identifier) }
        let start = await Self.totals(viewers)
        for viewer in viewers { await viewer.recordMeasuredFromHere() }
        let started = MonotonicClock.now
        try await Task.sleep(for: duration)
        let usageAtEnd = try process.map { identifier in try ProcessUsage(process: identifier) }
        let end = await Self.totals(viewers)
        result.seconds = (MonotonicClock.now - started).inSeconds
        result.packets = end.packets - min(start.packets, end.packets)
        result.bytes = end.bytes - min(start.bytes, end.bytes)
        if let before, let usageAtStart, let usageAtEnd, result.packets > 0 {
            let seconds = usageAtEnd.processorSeconds - usageAtStart.processorSeconds
            let perPacket = 1e6 / Double(result.packets)
            result.server = LoadTestReport.Server(
                microsecondsPerPacketViewer: seconds * perPacket,
                threads: usageAtEnd.threads.map { name, time in
                    let used = time - (usageAtStart.threads[name] ?? ProcessUsage.Time())
                    return LoadTestReport.Threads(
                        name: name, userMicroseconds: used.user * perPacket, systemMicroseconds: used.system * perPacket
                    )
                }.sorted { $0.name < $1.name },
                userMicrosecondsPerPacketViewer: (usageAtEnd.time.user - usageAtStart.time.user) * perPacket,
                systemMicrosecondsPerPacketViewer: (usageAtEnd.time.system - usageAtStart.time.system) * perPacket,
                coreShare: seconds / result.seconds, residentBytesBefore: before.residentBytes,
                residentBytesPerViewer: (usageAtEnd.residentBytes - before.residentBytes) / max(count, 1),
                proportionalBytesPerViewer: usageAtEnd.proportionalBytes.flatMap { end in
                    before.proportionalBytes.map { (end - $0) / max(count, 1) }
                })
        }
        return result
    }

    private static func totals(_ viewers: [LoadTestViewer]) async -> (packets: UInt64, bytes: UInt64) {
        var result: (packets: UInt64, bytes: UInt64) = (0, 0)
        for viewer in viewers {
            for track in await viewer.statistics().tracks {
                result.packets += track.packets
                result.bytes += track.bytes
            }
        }
        return result
    }

    private func makeReport(_ viewers: [LoadTestViewer], _ measured: Measured) async -> LoadTestReport {
        var report = LoadTestReport(
            urls: urls, viewers: count, playing: 0, failed: 0, seconds: measured.seconds, packets: measured.packets,
            bitsPerSecondPerViewer: 0, lost: 0, lossShare: 0)
        var steps: [LoadTestViewer.Step: [Double]] = [:]
        var ages: [Double] = []
        var liveTimes: [Double] = []
        var received: UInt64 = 0
        for viewer in viewers {
            for (step, milliseconds) in viewer.steps { steps[step, default: []].append(milliseconds) }
            if viewer.steps[.firstPacket] != nil { report.playing += 1 }
            if let failure = viewer.failure {
                report.failed += 1
                if report.firstFailure == nil { report.firstFailure = failure }
            }
            let statistics = await viewer.statistics()
            for track in statistics.tracks {
                received += track.packets
                report.lost += track.lost
            }
            if awaitsLivePicture, let caughtUp = viewer.sincePost(statistics.frameArrivals.caughtUp()) {
                liveTimes.append(caughtUp)
            }
            ages += statistics.pictureAges.dropFirst(viewer.picturesBefore).map { Double($0) / 1e6 }
        }
        if measured.seconds > 0, report.playing > 0 {
            report.bitsPerSecondPerViewer = Double(measured.bytes * 8) / measured.seconds / Double(report.playing)
        }
        report.lossShare = received > 0 ? Double(report.lost) / Double(received + report.lost) : 0
        report.latency = LoadTestReport.Percentiles(ages)
        report.answer = LoadTestReport.Percentiles(steps[.answer] ?? [])
        report.connected = LoadTestReport.Percentiles(steps[.connected] ?? [])
        report.firstPacket = LoadTestReport.Percentiles(steps[.firstPacket] ?? [])
        report.firstKeyFrame = LoadTestReport.Percentiles(steps[.firstKeyFrame] ?? [])
        report.livePicture = LoadTestReport.Percentiles(liveTimes)
        report.server = measured.server
        return report
    }

    /// A viewer needs two sockets, and the usual limit is 1,024 open files.
    private static func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        // If the limit cannot be raised, the sockets that cannot be opened report it.
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
