import Foundation
import Glibc
import Logging
import ServiceLifecycle
import Testing
import Transport

@testable import Gateway

/// What the service manager learns, over real sockets.
@Suite struct ServiceNotifierTests {
    /// The socket of a service manager.
    private final class Manager: Sendable {
        let descriptor: Int32
        let path: String

        /// - Parameter isAbstract: whether its name is outside of the file system.
        init(isAbstract: Bool = false) throws {
            let place = NSTemporaryDirectory() + "gatehouse-\(UUID().uuidString)"
            path = (isAbstract ? "@" : "") + place
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let name = Array((isAbstract ? "\0" : "").utf8) + Array(place.utf8)
            try #require(name.count < MemoryLayout.size(ofValue: address.sun_path))
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            let length = socklen_t(2 + name.count)
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
            try #require(bound == 0)
        }

        deinit {
            close(descriptor)
            unlink(path)
        }

        /// The next message; nil if none comes within a minute.
        func next() async -> String? {
            await withCheckedContinuation { continuation in
                // A wait must not hold up the threads of the concurrency runtime.
                Thread.detachNewThread { [self] in continuation.resume(returning: wait()) }
            }
        }

        private func wait() -> String? {
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&polled, 1, 60_000) == 1 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    @Test(arguments: [false, true])
    func aMessageIsOneDatagram(isAbstract: Bool) async throws {
        let manager = try Manager(isAbstract: isAbstract)
        let notifier = try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": manager.path]))
        try notifier.send("READY=1", "STATUS=2 cameras")
        try notifier.send("STOPPING=1")
        #expect(await manager.next() == "READY=1\nSTATUS=2 cameras")
        #expect(await manager.next() == "STOPPING=1")
    }

    @Test func withoutAServiceManagerNobodyIsNotified() {
        for path in [nil, "", "relative", "/", "@", "/" + String(repeating: "x", count: 200)] {
            var environment: [String: String] = [:]
            environment["NOTIFY_SOCKET"] = path
            #expect(ServiceNotifier(environment: environment) == nil)
        }
        let gone = ServiceNotifier(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"])
        #expect(throws: ServiceNotifier.Failure.self) { try gone?.send("READY=1") }
    }

    @Test func theWatchdogBelongsToItsProcess() {
        func interval(_ environment: [String: String]) -> Duration? {
            let all = environment.merging(["NOTIFY_SOCKET": "/s"]) { first, _ in first }
            return ServiceNotifier(environment: all, processID: 7)?.watchdogInterval
        }
        #expect(interval(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
        #expect(interval(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"]) == .seconds(30))
        #expect(interval(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"]) == nil)
        for wrong in ["", "0", "-1", "soon", "99999999999999999999"] {
            #expect(interval(["WATCHDOG_USEC": wrong]) == nil)
        }
    }

    @Test func signsOfLifeFollowTheChecksUntilTheGatewayStops() async throws {
        let manager = try Manager()
        // A sign each second: the kernel keeps about ten for a reader that gets no processor time, and loses what follows.
        let environment = ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "2000000"]
        let checks = Locked(0)
        let watchdog = ServiceWatchdog(
            notifier: try #require(ServiceNotifier(environment: environment)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { checks.withLock { $0 += 1 } }
        let group = ServiceGroup(configuration: .init(services: [watchdog], logger: watchdog.logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for _ in 0..<3 { #expect(await manager.next() == "WATCHDOG=1") }
            #expect(checks.withLock { $0 } >= 3)
            await group.triggerGracefulShutdown()
            // A sign of life may be on its way.
            var last = await manager.next()
            for _ in 0..<100 where last == "WATCHDOG=1" { last = await manager.next() }
            #expect(last == "STOPPING=1")
            try await tasks.waitForAll()
        }
    }
}
