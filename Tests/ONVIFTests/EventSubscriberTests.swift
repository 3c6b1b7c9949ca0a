import HTTPMedia
import Testing
import Transport
import XML

@testable import ONVIF

/// A subscriber in virtual time, with a device that answers what the test says.
struct SubscriberWorld {
    var subscriber: EventSubscriber
    var now = Instant(nanoseconds: 0)
    var events: [EventSubscriber.Event] = []
    /// The names of the requests that were sent.
    var sent: [String] = []

    init(_ change: (inout EventSubscriber.Configuration) -> Void = { _ in }) {
        var configuration = EventSubscriber.Configuration()
        change(&configuration)
        subscriber = EventSubscriber(
            device: HTTPAddress(onvif: "cam", port: 8000), configuration: configuration, random: .seeded(3))
    }

    /// Sends the next request and answers it after `delay`; waits before it if the subscriber wants to.
    @discardableResult
    mutating func step(
        after delay: Duration = .milliseconds(10), _ answer: (String, ONVIFRequest) -> Result<XMLElement, ONVIFError>
    ) -> String {
        var action = subscriber.pollAction(at: now)
        if case .wait(let end) = action {
            now = end
            action = subscriber.pollAction(at: now)
        }
        guard case .send(let request) = action else { return "wait" }
        let name = String(request.body.split(separator: ":")[1].prefix { $0.isLetter })
        sent.append(name)
        let outcome = answer(name, request)
        now = now + delay
        subscriber.handle(outcome, at: now, wallTime: WallTime(millisecondsSince1970: 1_700_000_000_000))
        while let event = subscriber.pollEvent() { events.append(event) }
        return name
    }

    /// What a device in order answers.
    static func answer(_ name: String, seconds: Int = 60) -> Result<XMLElement, ONVIFError> {
        switch name {
        case "GetSystemDateAndTime": Answers.body(Answers.clock)
        case "GetServices": Answers.body(Answers.services)
        case "GetDeviceInformation": Answers.body(Answers.information)
        case "CreatePullPointSubscription": Answers.body(Answers.subscription(seconds: seconds))
        case "Renew": Answers.body(Answers.renewed(seconds: seconds))
        default: Answers.body(Answers.pull())
        }
    }
}

@Suite struct EventSubscriberTests {
    @Test func aSubscriptionIsMadeAndPulled() throws {
        var world = SubscriberWorld()
        var pulled: [ONVIFRequest] = []
        for _ in 0..<6 {
            world.step { name, request in
                if name == "PullMessages" { pulled.append(request) }
                #expect(request.needsCredentials == (name != "GetSystemDateAndTime"))
                return SubscriberWorld.answer(name)
            }
        }
        #expect(
            world.sent == [
                "GetSystemDateAndTime", "GetServices", "GetDeviceInformation", "CreatePullPointSubscription",
                "PullMessages", "PullMessages",
            ])
        // The camera's clock is at the beginning of 2000.
        #expect(world.events.first == .clockOffset(milliseconds: 946_782_245_000 - 1_700_000_000_000))
        #expect(world.events.contains(.subscribed))
        // The address that the camera announced is its inner one.
        #expect(pulled.first?.address.url == "http://cam:8000/onvif/subscription?Idx=7")
        #expect(pulled.first?.body.contains("PT1S") == true)
        #expect(pulled.last?.body.contains("PT10S") == true)
    }

    /// Some cameras do not wait until there is something to report.
    @Test func aCameraThatAnswersAtOnceIsAskedOncePerSecond() {
        var world = SubscriberWorld()
        for _ in 0..<4 { world.step { name, _ in SubscriberWorld.answer(name) } }
        let before = world.now
        for _ in 0..<20 { world.step(after: .milliseconds(1)) { name, _ in SubscriberWorld.answer(name) } }
        #expect(world.now - before >= .seconds(19))
        #expect(!world.events.contains { if case .failed = $0 { true } else { false } })
    }

    @Test func aCameraThatAlwaysHasEventsIsAskedTenTimesPerSecond() {
        var world = SubscriberWorld()
        for _ in 0..<4 { world.step { name, _ in SubscriberWorld.answer(name) } }
        let before = world.now
        let motion = Answers.notification("tns1:VideoSource/MotionAlarm", data: [("State", "true")])
        for _ in 0..<21 { world.step(after: .milliseconds(1)) { _, _ in Answers.body(Answers.pull(motion)) } }
        #expect(world.now - before >= .seconds(2))
        // What comes in its time is not held up.
        let waiting = world.now
        for _ in 0..<2 { world.step(after: .milliseconds(300)) { _, _ in Answers.body(Answers.pull(motion)) } }
        #expect(world.now - waiting <= .milliseconds(700))
    }

    @Test func anEmptyPullIsFollowedByTheNextAtOnce() {
        var world = SubscriberWorld()
        for _ in 0..<4 { world.step { name, _ in SubscriberWorld.answer(name) } }
        world.step(after: .seconds(1)) { name, _ in SubscriberWorld.answer(name) }
        let before = world.now
        world.step(after: .seconds(10)) { name, _ in SubscriberWorld.answer(name) }
        #expect(world.now == before + .seconds(10))
    }

    /// A camera that answers one pull of each subscription and no second one.
    @Test func aSubscriptionThatEndsWithItsSecondPullIsMadeEverLessOften() {
        var world = SubscriberWorld()
        var pulls = 0
        for _ in 0..<80 {
            world.step { name, _ in
                pulls = name == "PullMessages" ? pulls + 1 : name == "CreatePullPointSubscription" ? 0 : pulls
                return pulls > 1 ? Answers.body(Answers.notSupported) : SubscriberWorld.answer(name)
            }
        }
        let made = world.sent.filter { $0 == "CreatePullPointSubscription" }.count
        let pauses = world.events.compactMap { event in
            if case .failed(_, let pause) = event { pause } else { nil }
        }
        #expect(pauses.count >= 5 && !pauses.contains(.milliseconds(100)))
        #expect(pauses.last.map { $0 >= .seconds(20) } == true)
        // None of them is left to occupy one of the camera's places.
        #expect(world.sent.filter { $0 == "Unsubscribe" }.count >= made - 1)
    }

    /// A camera that answers two pulls of each subscription at once, with an event, and no third one.
    @Test func aSubscriptionThatEndsAfterTwoPullsIsMadeEverLessOften() {
        var world = SubscriberWorld()
        let motion = Answers.notification("tns1:VideoSource/MotionAlarm", data: [("State", "true")])
        var pulls = 0
        for _ in 0..<140 {
            world.step { name, _ in
                pulls = name == "PullMessages" ? pulls + 1 : name == "CreatePullPointSubscription" ? 0 : pulls
                guard pulls > 0, name == "PullMessages" else { return SubscriberWorld.answer(name) }
                return Answers.body(pulls > 2 ? Answers.notSupported : Answers.pull(motion))
            }
        }
        let pauses = world.events.compactMap { event in
            if case .failed(_, let pause) = event { pause } else { nil }
        }
        #expect(pauses.filter { $0 == .milliseconds(100) }.count == 1)
        // The circuit does not open: the camera still reports something.
        #expect(pauses.count > 12 && pauses[7...].allSatisfy { (.seconds(30)..<(.seconds(90))).contains($0) })
    }

    /// Two subscriptions end within seconds. One that lasted came between them.
    @Test func subscriptionsThatEndSoonDoNotCountTogetherAcrossOneThatLasted() {
        var world = SubscriberWorld()
        let motion = Answers.notification("tns1:VideoSource/MotionAlarm", data: [("State", "true")])
        var (subscriptions, pulls) = (0, 0)
        for _ in 0..<60 {
            world.step(after: subscriptions == 2 ? .seconds(5) : .milliseconds(10)) { name, _ in
                if name == "CreatePullPointSubscription" { (subscriptions, pulls) = (subscriptions + 1, 0) }
                if name == "Renew" { return .failure(.unreachable("connection refused")) }
                guard name == "PullMessages" else { return SubscriberWorld.answer(name) }
                pulls += 1
                return Answers.body(subscriptions != 2 && pulls > 2 ? Answers.notSupported : Answers.pull(motion))
            }
        }
        let pauses = world.events.compactMap { event in
            if case .failed(_, let pause) = event { pause } else { nil }
        }
        let isImmediate = pauses.prefix(4).map { $0 == .milliseconds(100) }
        #expect(isImmediate == [true, false, true, false])
    }

    /// A camera that answers some pulls of each subscription, but not for as long as it has granted.
    @Test func aSubscriptionThatLastsAWhileIsMadeAgainAtOnceEachTime() {
        var world = SubscriberWorld()
        var pulls = 0
        for _ in 0..<60 {
            world.step(after: .seconds(3)) { name, _ in
                pulls = name == "PullMessages" ? pulls + 1 : name == "CreatePullPointSubscription" ? 0 : pulls
                let isForgotten = name == "PullMessages" && pulls > 3
                return isForgotten ? Answers.body(Answers.notSupported) : SubscriberWorld.answer(name)
            }
        }
        let pauses = world.events.compactMap { event in
            if case .failed(_, let pause) = event { pause } else { nil }
        }
        #expect(pauses.count >= 5 && pauses.allSatisfy { $0 == .milliseconds(100) })
    }

    @Test func theSubscriptionIsRenewedAtHalfOfItsLifeWhateverTheCamerasClockSays() {
        var world = SubscriberWorld()
        for _ in 0..<40 {
            world.step(after: .seconds(world.sent.last == "PullMessages" ? 5 : 0)) { name, _ in
                SubscriberWorld.answer(name)
            }
        }
        let pulls = world.sent.split(separator: "Renew").dropFirst().dropLast().map(\.count)
        #expect(!pulls.isEmpty)
        #expect(pulls.allSatisfy { (4...8).contains($0) }, "\(pulls)")
        #expect(world.sent.filter { $0 == "CreatePullPointSubscription" }.count == 1)
    }

    @Test func aPullNeverOutlastsTheRenewal() {
        var world = SubscriberWorld()
        for _ in 0..<30 {
            world.step(after: .milliseconds(900)) { name, request in
                if name == "PullMessages" { #expect(request.timeout <= .seconds(13)) }
                return SubscriberWorld.answer(name, seconds: 6)
            }
        }
        #expect(world.sent.contains("Renew"))
        #expect(!world.events.contains { if case .failed = $0 { true } else { false } })
    }

    @Test func aCameraThatCannotRenewGetsNewSubscriptionsInTime() {
        var world = SubscriberWorld()
        for _ in 0..<40 {
            world.step(after: .seconds(3)) { name, _ in
                name == "Renew" ? Answers.body(Answers.notSupported) : SubscriberWorld.answer(name)
            }
        }
        #expect(world.sent.filter { $0 == "Renew" }.count == 1)
        #expect(world.sent.filter { $0 == "CreatePullPointSubscription" }.count > 2)
        #expect(!world.events.contains { if case .failed = $0 { true } else { false } })
    }

    @Test func oldFirmwareIsAskedForItsCapabilities() {
        var world = SubscriberWorld()
        let capabilities = Answers.envelope(
            """
            <tds:GetCapabilitiesResponse><tds:Capabilities><tt:Events>
            <tt:XAddr>http://10.0.0.9:8000/onvif/old_events</tt:XAddr></tt:Events></tds:Capabilities>
            </tds:GetCapabilitiesResponse>
            """)
        var created: HTTPAddress?
        for _ in 0..<6 {
            world.step { name, request in
                if name == "CreatePullPointSubscription" { created = request.address }
                if name == "GetServices" || name == "GetDeviceInformation" { return Answers.body(Answers.notSupported) }
                return name == "GetCapabilities" ? Answers.body(capabilities) : SubscriberWorld.answer(name)
            }
        }
        #expect(created?.url == "http://cam:8000/onvif/old_events")
        #expect(world.events.contains(.subscribed))
    }

    @Test func aRestartOfTheCameraIsSurvived() {
        var world = SubscriberWorld()
        for _ in 0..<6 { world.step { name, _ in SubscriberWorld.answer(name) } }
        let before = world.now
        world.events = []
        for _ in 0..<4 { world.step { _, _ in .failure(.unreachable("connection refused")) } }
        for _ in 0..<5 { world.step { name, _ in SubscriberWorld.answer(name) } }
        #expect(world.events.last == .subscribed)
        #expect(world.now - before < .seconds(10))
        // The first failure of a subscription that stood is answered at once, the following ones ever later.
        let pauses = world.events.compactMap { event in
            if case .failed(_, let pause) = event { pause } else { nil }
        }
        #expect(pauses.first == .milliseconds(100))
        #expect(pauses.count == 4)
    }

    @Test func pausesGrowAreJitteredAndEndInAnOpenCircuit() {
        var world = SubscriberWorld()
        for _ in 0..<14 { world.step { _, _ in .failure(.noAnswer(seconds: 10)) } }
        let pauses = world.events.compactMap { event in
            if case .failed(_, let pause) = event { pause.inSeconds } else { nil }
        }
        #expect(pauses[0] < 1 && pauses[0] >= 0.25)
        #expect(pauses[7] >= 30 && pauses[7] <= 90)
        #expect(pauses[12] >= 150 && pauses[12] <= 450)
        #expect(Set(pauses).count == pauses.count)
    }

    @Test func refusedCredentialsAreSentThreeTimesAndThenRarely() {
        var world = SubscriberWorld()
        for _ in 0..<20 {
            world.step { name, _ in
                name == "GetSystemDateAndTime" ? SubscriberWorld.answer(name) : Answers.body(Answers.notAuthorized)
            }
        }
        let pauses = world.events.compactMap { event -> Double? in
            guard case .failed(let error, let pause) = event, error.isRefusal else { return nil }
            return pause.inSeconds
        }
        // The last of the pauses is not over yet.
        let ranges: [ClosedRange<Double>] = [15...45, 30...90, 450...1_350, 900...2_700, 1_800...5_400]
        #expect(pauses.count >= ranges.count)
        for (pause, range) in zip(pauses, ranges) { #expect(range.contains(pause)) }
        #expect(pauses.dropFirst(ranges.count).allSatisfy { (1_800...5_400).contains($0) })
    }

    @Test func aDeviceWithoutEventsIsAskedAgainMuchLater() {
        var world = SubscriberWorld()
        let nothing = Answers.envelope("<tds:GetServicesResponse/>")
        for _ in 0..<4 {
            world.step { name, _ in
                name.hasPrefix("GetS") && name != "GetServices" ? SubscriberWorld.answer(name) : Answers.body(nothing)
            }
        }
        #expect(
            world.events.contains {
                if case .failed(.unsupported(.eventService), let pause) = $0 { pause > .seconds(140) } else { false }
            })
    }

    @Test func theEndIsPolite() {
        var world = SubscriberWorld()
        #expect(world.subscriber.farewell() == nil)
        for _ in 0..<6 { world.step { name, _ in SubscriberWorld.answer(name) } }
        let farewell = world.subscriber.farewell()
        #expect(farewell?.body.contains("Unsubscribe") == true)
        #expect(farewell?.address.url == "http://cam:8000/onvif/subscription?Idx=7")
        #expect(world.subscriber.farewell() == nil)
    }
}
