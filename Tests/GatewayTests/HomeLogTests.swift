import HomeHub
import HomeTypes
import Logging
import MediaRelay
import Signalling
import Testing
import Transport

@testable import Gateway

/// The lines of the log as they are written, in both formats.
@Suite struct HomeLogTests {
    /// A log whose lines can be read, without their times.
    private final class World: Sendable {
        let written = Locked<[String]>([])
        let time = Locked(Instant.zero)

        func log(_ format: GatewayConfiguration.Log.Format = .text, level: Logger.Level = .info) -> HomeLog {
            HomeLog(logger: logger(format, level: level), now: { self.time.withLock { $0 } })
        }

        func logger(_ format: GatewayConfiguration.Log.Format = .text, level: Logger.Level = .info) -> Logger {
            var logger = Logger(label: "gatehouse") { label in
                GatewayLogHandler(label: label, format: format, redactor: Redactor(secrets: ["s3cret-word"])) { line in
                    self.written.withLock { $0.append(line) }
                }
            }
            logger.logLevel = level
            return logger
        }

        func pass(_ seconds: Int) { time.withLock { $0 += .seconds(seconds) } }

        /// The lines so far, from the level on.
        var lines: [String] {
            written.withLock { lines in
                lines.map { line in String(line.drop { $0 != " " }.dropFirst().dropLast()) }
            }
        }
    }

    private func down(_ reason: String, attempts: SourceTrouble.Attempts? = nil) -> CameraUpdate {
        .source(.init(state: .backingOff, trouble: SourceTrouble(reason, attempts: attempts)))
    }
    private var up: CameraUpdate {
        .source(
            .init(state: .flowing, tracks: [.init(kind: "video", codec: "H264"), .init(kind: "audio", codec: "PCMA")]))
    }

    @Test func outagesAndRecoveriesAreLines() {
        let world = World()
        let log = world.log()
        log.record(up, of: "door")
        world.pass(7260)
        log.record(down("the connection was refused", attempts: .next(seconds: 1)), of: "door")
        log.record(down("no\nroute s3cret-word \u{1B}[2J"), of: "yard")
        world.pass(42)
        log.record(up, of: "door")
        #expect(
            world.lines == [
                "info gatehouse: camera is up camera=door tracks=\"H264, PCMA\"",
                "warning gatehouse: camera is down camera=door reason=\"the connection was refused\" "
                    + "wasUpFor=\"2 h 1 min\"",
                "warning gatehouse: camera is down camera=yard reason=\"no\\nroute [secret] \\u001b[2J\"",
                "notice gatehouse: camera is up again camera=door downFor=\"42 s\" tracks=\"H264, PCMA\"",
            ])
    }

    @Test func missingEventsAreLogged() {
        let world = World()
        let log = world.log()
        log.record(
            .eventSource(.init(state: .backingOff, reason: "the device does not accept the password")), of: "door")
        world.pass(90)
        log.record(.eventSource(.init(state: .subscribed)), of: "door")
        #expect(
            world.lines == [
                "warning gatehouse: camera sends no events camera=door "
                    + "reason=\"the device does not accept the password\"",
                "notice gatehouse: camera sends events again camera=door downFor=\"1 min 30 s\"",
            ])
    }

    @Test func aRemovedCameraIsForgotten() {
        let world = World()
        let log = world.log()
        log.record(up, of: "door")
        log.record(nil, of: "door")
        log.record(up, of: "door")
        #expect(world.lines.count == 2)
    }

    @Test func viewsPublishersAndTalksBeginAndEnd() {
        let world = World()
        let log = world.log()
        let session = "0123456789abcdef0123456789abcdef"
        log.record(.started(mediaSessionId: session, deviceID: "door", principal: "owner"))
        log.record(.connected(mediaSessionId: session, deviceID: "door"))
        log.record(.talkStarted(talkID: "talk-1", deviceID: "door", principal: "owner"))
        world.pass(5)
        log.record(.talkEnded(talkID: "talk-1", deviceID: "door", end: .stopped))
        world.pass(60)
        log.record(.ended(mediaSessionId: session, deviceID: "door", end: .stopped))
        log.record(
            .publisherStarted(sessionID: session, deviceID: "phone", principal: "owner", protocolName: "RTSP"))
        log.record(.publisherEnded(sessionID: session, deviceID: "phone", end: .stopped))
        log.record(.started(mediaSessionId: session, deviceID: "door", principal: "owner"))
        log.record(.ended(mediaSessionId: session, deviceID: "door", end: .relay(.viewer(.trackGone))))
        #expect(
            world.lines == [
                "info gatehouse: view started by=owner camera=door session=01234567",
                "info gatehouse: talk started by=owner camera=door session=talk-1",
                "info gatehouse: talk ended by=owner camera=door lasted=\"5 s\" reason=\"the talker stopped\" "
                    + "session=talk-1",
                "info gatehouse: view ended by=owner camera=door lasted=\"1 min 5 s\" "
                    + "reason=\"the viewer stopped the live view\" session=01234567",
                "info gatehouse: publisher started by=owner camera=phone protocol=RTSP session=01234567",
                "info gatehouse: publisher ended by=owner camera=phone lasted=\"0 ms\" "
                    + "reason=\"the publisher has stopped\" session=01234567",
                "info gatehouse: view started by=owner camera=door session=01234567",
                "info gatehouse: view ended before it was connected by=owner camera=door lasted=\"0 ms\" "
                    + "reason=\"the camera no longer sends this track\" session=01234567",
            ])
    }

    @Test func jsonLinesHoldTheSame() {
        let world = World()
        world.log(.json).record(down("the path \"/x\" is not there"), of: "door")
        let line = world.written.withLock { $0.first ?? "" }
        #expect(
            line.hasSuffix(
                "\"level\":\"warning\",\"logger\":\"gatehouse\",\"message\":\"camera is down\",\"camera\":\"door\","
                    + "\"reason\":\"the path \\\"/x\\\" is not there\"}\n"))
    }

    @Test func aRequestsNumberIsNotASecretAndASessionIs() {
        let world = World()
        let number = "0123456789abcdef0123456789abcdef"
        world.logger().info("x", metadata: ["hb.request.id": "\(number)", "session": "\(number)"])
        #expect(world.lines == ["info gatehouse: x request=\(number) session=[secret]"])
    }
}
