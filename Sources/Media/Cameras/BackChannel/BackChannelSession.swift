import Codecs
import DatagramPort
import RTSP
import SDP
import Transport

/// One RTSP session that carries a talk to a camera, on the talk's thread: OPTIONS, DESCRIBE, SETUP of the speaker's
/// track only, PLAY, packets, TEARDOWN. ``RTSPDriver`` moves the bytes.
struct BackChannelSession: ~Copyable {
    private enum Ending {
        case finished
        case redirected(RTSPURL)
        /// The camera refused the credentials, with this login where it says how.
        case loginRefused(CameraFailure, RTSPClient.RefusedLogin?)
        case refused(SpeakerRefusal)
    }

    /// How far the session has come.
    private enum Stage {
        /// The camera has not described itself.
        case describing
        /// The speaker's track is being set up.
        case settingUp(BackChannelChoice, TalkSender.Channels?, refusal: RTSPError?)
        /// The camera plays the sound.
        case open(TalkSender)
        case ended(Ending)
    }

    private let url: RTSPURL
    private let talk: BackChannelTalk
    private let findings: SourceFindings
    private let begun: Instant
    private var driver: RTSPDriver
    private var random: RandomSource
    private var stage = Stage.describing

    /// Runs a talk from beginning to end. `previous` is the talk before. Its session must have ended first: cameras
    /// have one speaker, and many accept one session for it.
    static func run(
        _ dialer: CameraDialer, isTunnelled: Bool, talk: BackChannelTalk, after previous: SourceControl?,
        orElse shared: SharedSpeaker? = nil
    ) {
        var isHandedOver = false
        defer {
            if !isHandedOver {
                talk.close()
                talk.control.markEnded()
            }
        }
        let begun = MonotonicClock.now
        if let previous { talk.control.wait(forEndOf: previous, upTo: .seconds(2)) }
        // While an attempt would only help to lock the account, the talk is refused as the last login was.
        let refusal = dialer.findings.logins.withLock { $0.admit(at: MonotonicClock.now) == nil ? nil : $0.reason }
        if let refusal { return talk.refuse(.unauthorized(refusal)) }
        var dialer = dialer
        var random = RandomSource.system
        var target = dialer.url
        var redirections = 0
        while !talk.control.isStopping {
            switch attempt(target, dialer: &dialer, isTunnelled: isTunnelled, talk: talk, begun: begun, &random) {
            case .finished: return
            case .refused(.sessionRefused(let reason)):
                // A camera that serves only one client already serves the source: the talk goes over that session.
                isHandedOver = shared?.take(talk) ?? false
                if !isHandedOver { talk.refuse(.sessionRefused(reason)) }
                return
            case .refused(let refusal): return talk.refuse(refusal)
            case .loginRefused(let reason, let login):
                // Another authentication scheme follows once without a pause.
                if dialer.findings.logins.withLock({ $0.refuse(login) }) { continue }
                let reason = dialer.reason(reason, ofRefusalAt: target)
                if !reason.isPasswordWithheld {
                    dialer.findings.logins.withLock { _ = $0.fail(reason, at: MonotonicClock.now, random: &random) }
                }
                return talk.refuse(.unauthorized(reason))
            case .redirected(let next):
                redirections += 1
                guard redirections <= CameraDialer.maximumRedirections else {
                    return talk.refuse(.unreachable(.redirectionCircle))
                }
                target = next
            }
        }
    }

    private static func attempt(
        _ target: RTSPURL, dialer: inout CameraDialer, isTunnelled: Bool, talk: BackChannelTalk, begun: Instant,
        _ random: inout RandomSource
    ) -> Ending {
        switch dialer.connect(target, isTunnelled: isTunnelled, control: talk.control, random: &random) {
        case .stopped, .abandoned: return .finished
        case .failed(let error) where error.authenticationFailure != nil: return .loginRefused(.unreachable(error), nil)
        case .failed(let error): return .refused(.unreachable(.unreachable(error)))
        case .connected(let connection):
            var configuration = dialer.clientConfiguration(for: target)
            configuration.require = RTSPFeature.backChannel
            let driver = RTSPDriver(target, over: connection, configuration: configuration, random: random)
            var session = BackChannelSession(
                target, driver: driver, talk: talk, findings: dialer.findings, begun: begun, random: random)
            return session.run()
        }
    }

    private init(
        _ url: RTSPURL, driver: consuming RTSPDriver, talk: BackChannelTalk, findings: SourceFindings, begun: Instant,
        random: RandomSource
    ) {
        self.url = url
        self.driver = driver
        self.talk = talk
        self.findings = findings
        self.begun = begun
        self.random = random
    }

    private mutating func run() -> Ending {
        while true {
            let now = MonotonicClock.now
            if talk.control.isStopping, isOver(at: now) {
                sender?.finish(over: &driver)
                // Sound that the connection did not accept before the camera was switched off would go out first.
                if !hasEnded, !(talk.isSilenced && driver.client.hasOutput) { driver.tearDown() }
                return .finished
            }
            sendSound(at: now)
            if !hasEnded, let loss = driver.writeOutput() { breakOff(loss.failure) }
            if case .ended(let ending) = stage { return ending }
            let deadline = min(driver.client.nextDeadline ?? .distantFuture, sender?.nextFrame ?? .distantFuture)
            // Once the owner has requested a stop, the pipe stays readable and carries no more information.
            _ = driver.wait(until: deadline, or: talk.control.isStopping ? nil : talk.control)
            readInput()
            do throws(RTSPError) {
                try driver.client.handleDeadline(at: MonotonicClock.now)
                try drainEvents(at: MonotonicClock.now)
            } catch {
                fail(error)
            }
        }
    }

    private var sender: TalkSender? { if case .open(let sender) = stage { sender } else { nil } }

    private var hasEnded: Bool { if case .ended = stage { true } else { false } }

    /// After the talker's end: whether nothing is left to send.
    private func isOver(at now: Instant) -> Bool { sender?.isOver(at: now) ?? true }

    private mutating func readInput() {
        // On this session the camera sends answers and reports only: a few reads are plenty.
        for _ in 0..<16 {
            switch driver.readInput() {
            case .nothing: return
            case .lost(let loss): return breakOff(loss.failure)
            case .bytes:
                do throws(RTSPError) {
                    try drainEvents(at: MonotonicClock.now)
                } catch {
                    return fail(error)
                }
            }
        }
    }

    private mutating func sendSound(at now: Instant) {
        do throws(CodecError) {
            try sender?.send(over: &driver, at: now)
        } catch {
            end(.refused(.gatewayFault(.encoding(error))))
        }
    }

    // MARK: Events

    private mutating func drainEvents(at now: Instant) throws(RTSPError) {
        while !hasEnded, let event = try driver.client.pollEvent(at: now) {
            switch event {
            case .described(let text, let baseURI):
                findings.learnLogin(from: driver.client)
                describe(text, baseURI: baseURI, at: now)
            case .trackSetUp(_, let media, let control, _):
                guard case .settingUp(let choice, _, let refusal) = stage else { continue }
                stage = .settingUp(choice, (media, control), refusal: refusal)
            case .trackRefused(_, let reason):
                recordRefusal(reason)
            case .playing:
                guard case .settingUp(let choice, let channels?, _) = stage else { continue }
                stage = .open(TalkSender(talk, choice, over: channels, begun: begun, random: &random, at: now))
            case .redirected(let target):
                end(.redirected(target))
            case .tornDown:
                breakOff(.sessionEnded)
            default:
                // Receiver reports, and anything else on the interleaved channels.
                break
            }
        }
    }

    private mutating func describe(_ text: String, baseURI: String, at now: Instant) {
        let session: SessionDescription
        do throws(SDPError) {
            session = try SessionDescription(parsing: text)
        } catch {
            return end(.refused(.sessionRefused(.unreadableDescription(error))))
        }
        do throws(SpeakerRefusal) {
            let choice = try BackChannelChoice(from: session, baseURI: baseURI, url: url)
            stage = .settingUp(choice, nil, refusal: nil)
            driver.client.setUp(
                [choice.codec.controlURI], presentationURI: url.controlURI(session.control, base: baseURI), at: now)
        } catch {
            end(.refused(error))
        }
    }

    private mutating func recordRefusal(_ reason: RTSPError) {
        guard case .settingUp(let choice, let channels, _) = stage else { return }
        stage = .settingUp(choice, channels, refusal: reason)
    }

    // MARK: Ending

    /// Ends the session; the first reason counts.
    private mutating func end(_ ending: Ending) {
        if !hasEnded { stage = .ended(ending) }
    }

    private mutating func fail(_ error: RTSPError) {
        if hasEnded { return }
        if sender != nil { return end(.refused(.brokenOff(.rtsp(error)))) }
        if case .unauthorized = error {
            return end(.loginRefused(.rtsp(error), driver.client.refusedLogin))
        }
        // The client throws before it has reported why the track was refused.
        if case .noTrack = error, let event = try? driver.client.pollEvent(at: MonotonicClock.now),
            case .trackRefused(_, let reason) = event
        {
            recordRefusal(reason)
        }
        var refusal: RTSPError?
        if case .settingUp(_, _, let reason) = stage { refusal = reason }
        end(.refused(SpeakerRefusal(error, trackRefusal: refusal)))
    }

    private mutating func breakOff(_ failure: CameraFailure) {
        end(.refused(sender != nil ? .brokenOff(failure) : .sessionRefused(failure)))
    }
}
extension SpeakerRefusal {
    /// Makes a refusal from the RTSP client's error before the camera plays. `trackRefusal` says why the speaker's
    /// track was refused.
    init(_ error: RTSPError, trackRefusal: RTSPError?) {
        switch (error, trackRefusal) {
        case (.unauthorized, _):
            self = .unauthorized(.rtsp(error))
        // 461 is "unsupported transport"; a success that names UDP means the same.
        case (.noTrack, .refused(_, let status, _)?) where status == 461 || status < 300:
            self = .needsDatagrams
        case (.transportRefused, _), (.noTrack, .transportRefused?):
            self = .needsDatagrams
        // 551 is "option not supported" (RFC 2326, section 11.3.14).
        case (.refused(.describe, 551, _), _), (.noDescription, _):
            self = .noBackChannel
        case (.noAnswer, _), (.framingLost, _), (.malformedMessage, _), (.tooLarge, _), (.invalidURL, _),
            (.redirectionRefused, _):
            self = .unreachable(.rtsp(error))
        case (_, let reason):
            self = .sessionRefused(.rtsp(reason ?? error))
        }
    }
}
