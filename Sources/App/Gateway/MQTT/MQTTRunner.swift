import DatagramPort
import Foundation
import HomeHub
import HomeTypes
import Logging
import MQTTDevices
import Transport

/// Runs the bridge to the MQTT broker that the config names, and publishes the cameras there. A config that is read again
/// puts another bridge in its place.
actor MQTTRunner {
    private let logger: Logger
    private let store: (any SharedStore)?
    private let now: @Sendable () -> Instant
    private weak var hub: HomeHub?
    private var list: MQTTDeviceList?
    private var persons = TrackedPersons(.nobody)
    private var configuration: GatewayConfiguration.MQTT?
    private var bridge: MQTTBridge?
    private var problem: BrokerFailure?
    private var cameras: MQTTCameras?
    private var reports: Mailbox<[MQTTDeviceReport]>?
    private var descriptions: Mailbox<RetainedCamera>?
    private var tasks: [Task<Void, Never>] = []
    private var partNumbers: PartNumbers
    private var prefixes: KeptPrefixes
    /// Lets the prefixes that the disk did not take try again.
    private var prefixRetry: Task<Void, Never>?
    /// Who has come or gone and could not be kept, because the disk took nothing: the newest of each person, of no more people
    /// than the home takes later.
    private var unkeptPresence: [String: Bool] = [:]
    /// The persons of whom the log says that what their trackers report is lost.
    private var lostPersons: Set<String> = []
    /// How many of them the log names. A router may report each device as a tracker, and a broker may have names without end.
    static let mostLostPersons = 32
    /// Lets what the disk did not take try again.
    private var retry: Task<Void, Never>?
    /// How long each of the two tasks waits before it tries again.
    private let pauseBeforeRetry: Duration
    /// When the broker was lost.
    private var lostAt: Instant?
    /// Since when nothing has answered at the broker's address; nil while something does.
    private var absentSince: Instant?
    private var wasConnected = false

    /// Makes a runner that does nothing until it gets a config.
    /// - Parameters:
    ///   - directory: where the numbers of the parts of devices and the prefixes are kept; nil to forget them.
    ///   - store: where the devices are kept; nil to forget them.
    ///   - pauseBeforeRetry: how long the runner waits before it offers the disk again what the disk has not taken.
    ///   - now: the clock for how long the broker has been away.
    init(
        directory: StateDirectory?, store: (any SharedStore)? = nil, logger: Logger,
        pauseBeforeRetry: Duration = .seconds(10), now: @escaping @Sendable () -> Instant = { MonotonicClock.now }
    ) {
        self.store = store
        self.logger = logger
        self.pauseBeforeRetry = pauseBeforeRetry
        self.now = now
        partNumbers = PartNumbers(in: directory, logger: logger)
        prefixes = KeptPrefixes(in: directory, logger: logger)
    }

    /// Hands over the home.
    func use(_ hub: HomeHub) {
        self.hub = hub
        list = MQTTDeviceList(hub: hub, kept: KeptMQTTDevices(store: store, logger: logger), logger: logger)
    }

    /// Makes the bridge the one that the config asks for.
    func apply(_ wanted: GatewayConfiguration.MQTT?) async {
        // What could not be set up may be possible by now: a file that could not be read may be there.
        guard wanted != configuration || problem != nil else { return }
        await stop()
        let former = configuration
        configuration = wanted
        // Those of the former config as well.
        keepPrefixesLater()
        guard let wanted else {
            await list?.leave()
            persons = TrackedPersons(.nobody)
            return
        }
        partNumbers.read()
        await list?.waitForDescriptions()
        await list?.begin()
        if let former, former.hasSameTrackers(as: wanted) {
            persons.choose(wanted.presence)
        } else {
            // What the trackers of another broker have said must not keep anybody at home.
            persons = TrackedPersons(wanted.presence)
        }
        let reports = Mailbox<[MQTTDeviceReport]>()
        self.reports = reports
        let (states, statesIn) = AsyncStream.makeStream(of: BrokerState.self, bufferingPolicy: .bufferingNewest(16))
        let commands = NewestMessages()
        var settings = wanted.publisher
        if wanted.publishes {
            settings.formerPrefixes = prefixes.update(for: wanted).former
            keepPrefixesLater()
        }
        let (descriptions, publisher) = (Mailbox<RetainedCamera>(), settings)
        self.descriptions = descriptions
        do throws(BrokerFailure) {
            bridge = try MQTTBridge(
                settings: wanted.bridge, partNumbers: partNumbers.numbers, keys: await list?.keys ?? [:],
                observers: .init(
                    home: { reports.add($0) }, connection: { statesIn.yield($0) },
                    message: { message in
                        let former: RetainedCamera?
                        if publisher.isDescription(message.topic) {
                            former = RetainedCamera(
                                message, settings: publisher, isMinted: { MintedID.isDevice($0) })
                        } else if publisher.isFormer(message.topic) {
                            former = RetainedCamera(
                                state: message, settings: publisher, isMinted: { MintedID.isDevice($0) })
                        } else {
                            return commands.add(message)
                        }
                        if let former { descriptions.add(former) }
                    },
                    room: {
                        await reports.waitForRoom()
                        await descriptions.waitForRoom()
                    }))
        } catch {
            problem = error
            logger.error("the MQTT broker cannot be used", metadata: ["reason": "\(error)"])
            return
        }
        if wanted.publishes, let hub, let bridge {
            cameras = MQTTCameras(
                hub, settings: publisher, logger: logger, send: { _ = await bridge.publish($0) },
                listen: { await bridge.listen(to: $0) })
        }
        tasks = [
            Task { [weak self] in for await _ in reports.arrivals { await self?.take(reports.takeAll()) } },
            Task { [weak self] in for await state in states { await self?.take(state) } },
        ]
        if let cameras {
            // Before the bridge connects, so that the broker sends what it has retained before the gateway publishes.
            // Also without a discovery prefix: the cameras are described all the same, and those that have left have to
            // be found.
            await bridge?.listen(to: publisher.formerFilters.union([publisher.descriptionFilter]))
            tasks.append(Task { await cameras.follow() })
            tasks.append(
                Task { for await _ in descriptions.arrivals { await cameras.take(descriptions.takeAll()) } })
            tasks.append(
                Task {
                    for await _ in commands.arrivals {
                        for message in commands.takeAll() { await cameras.take(message) }
                    }
                })
        }
        list?.link.use(bridge)
        await bridge?.start()
    }

    /// Ends the bridge. The broker learns that the gateway leaves. The devices stay in the home; nothing reaches them.
    func stop() async {
        if let cameras { await bridge?.publish(await cameras.farewell) }
        await bridge?.stop()
        for task in tasks { task.cancel() }
        // What it has read already must not change the devices later.
        await tasks.first?.value
        reports?.finish()
        reports = nil
        descriptions?.finish()
        descriptions = nil
        retry?.cancel()
        retry = nil
        unkeptPresence = [:]
        lostPersons = []
        prefixRetry?.cancel()
        prefixRetry = nil
        // The last chance before the process ends.
        prefixes.tryAgain()
        tasks = []
        list?.link.use(nil)
        bridge = nil
        cameras = nil
        problem = nil
        lostAt = nil
        absentSince = nil
        wasConnected = false
    }

    /// The home now has all cameras of the config. Nobody waits for what the broker is sent then.
    func camerasAreComplete() {
        guard let cameras else { return }
        Task { await cameras.homeIsComplete() }
    }

    // MARK: The connection

    /// Handles how the connection is now.
    func take(_ state: BrokerState) async {
        switch state {
        case .connected:
            var metadata: Logger.Metadata = ["broker": "\(configuration?.host ?? "")"]
            if let lostAt { metadata["downFor"] = "\((now() - lostAt).inWords)" }
            logger.notice(wasConnected ? "MQTT broker connected again" : "MQTT broker connected", metadata: metadata)
            wasConnected = true
            lostAt = nil
            absentSince = nil
            await cameras?.publishEverything()
        case .lost(_, let reason):
            if lostAt == nil { lostAt = now() }
            absentSince = reason.isAbsence ? absentSince ?? now() : nil
            logger.warning(
                wasConnected ? "MQTT broker lost" : "MQTT broker cannot be reached",
                metadata: ["broker": "\(configuration?.host ?? "")", "reason": "\(reason)"])
        case .connecting, .stopped: break
        }
    }

    // MARK: Devices

    /// Adopts what the bridge has reported. An empty group lets what the disk did not take try again.
    func take(_ groups: [[MQTTDeviceReport]]) async {
        // A device's parts have their numbers for good before anybody sees it.
        if groups.joined().contains(where: \.isDescription), let bridge {
            let numbers = await bridge.partNumbers
            partNumbers.keep(numbers)
        }
        await list?.take(groups)
        if groups.contains(where: \.isEmpty) {
            for (person, isHome) in unkeptPresence.sorted(by: { $0.key < $1.key }) {
                await report(person, isHome: isHome)
            }
        }
        for report in groups.joined() {
            switch report {
            case .tracker(let tracker): persons.add(tracker)
            case .trackerRemoved(let tracker): persons.remove(tracker)
            case .presence(let tracker, let isHome):
                for answer in persons.take(tracker, isHome: isHome) {
                    await self.report(answer.person, isHome: answer.isHome)
                }
            default: break
            }
        }
        await retryLater()
    }

    /// Tries again in a while what the disk has not taken. Nothing describes a device again, and a tracker that does not move
    /// says nothing new.
    private func retryLater() async {
        let isLate = await list?.hasLateDevices() ?? false
        guard isLate || !unkeptPresence.isEmpty, retry == nil, let reports else { return }
        retry = Task { [weak self, pauseBeforeRetry] in
            guard (try? await Task.sleep(for: pauseBeforeRetry)) != nil else { return }
            await self?.endPause()
            // It takes its turn among the reports, so that it undoes none of them.
            reports.add([])
        }
    }

    private func endPause() { retry = nil }

    /// Tries again from time to time to keep the prefixes that the disk has not taken. Without them nobody would clear what
    /// is below this prefix after it has changed.
    private func keepPrefixesLater() {
        guard prefixes.areLate, prefixRetry == nil else { return }
        prefixRetry = Task { [weak self, pauseBeforeRetry] in
            while (try? await Task.sleep(for: pauseBeforeRetry)) != nil {
                guard await self?.arePrefixesLate() == true else { return }
            }
        }
    }

    /// Whether the prefixes are late even after another attempt.
    private func arePrefixesLate() -> Bool {
        prefixes.tryAgain()
        return prefixes.areLate
    }

    /// Reports who has come or gone. Trackers belong to the oldest structure.
    private func report(_ person: String, isHome: Bool) async {
        guard let hub, let structure = await hub.structures().first?.id else { return }
        let wasUnkept = unkeptPresence.removeValue(forKey: person) != nil
        do throws(HomeError) {
            try await hub.reportPresence(of: person, isHome: isHome, in: structure)
        } catch {
            var isLost = error.code != .unavailable
            if !isLost { isLost = await !hasRoom(for: person, in: structure, of: hub) }
            if isLost {
                guard lostPersons.count < Self.mostLostPersons, lostPersons.insert(person).inserted else { return }
            } else {
                unkeptPresence[person] = isHome
                guard !wasUnkept else { return }
            }
            logger.warning(
                isLost
                    ? "what an MQTT tracker reports about a person is lost"
                    : "what an MQTT tracker reports about a person cannot be kept yet; this is tried again until it succeeds",
                metadata: ["person": "\(person)", "reason": "\(error.message)"])
        }
    }

    /// Whether the home would take a person, with those that wait for the disk. A broker may have names without end.
    private func hasRoom(for person: String, in structure: String, of hub: HomeHub) async -> Bool {
        let known = ((try? await hub.presence(in: structure)) ?? []).map(\.person)
        return Set(known + unkeptPresence.keys + [person]).count <= HomeDirectory.maximumPersons
    }

    /// Fails while the broker describes a device, or may do so: it would come back.
    func requireForgettable(_ homeKey: String) async throws(HomeError) {
        // The broker of the config has not been asked.
        if let problem, await list?.knows(homeKey) == true {
            throw HomeError.failedPrecondition(
                "the MQTT broker may still describe the device, and cannot be used (\(problem)): correct the section "
                    + "mqtt of the config, or remove it, and try again")
        }
        try await list?.requireForgettable(homeKey, absence: absence)
    }

    /// For how long nothing has answered at the broker's address; nil while something does.
    private var absence: Duration? { absentSince.map { now() - $0 } }

    /// Forgets a device that the broker does not describe any more.
    func forget(_ homeKey: String) async throws(HomeError) {
        try await requireForgettable(homeKey)
        try await list?.forget(homeKey, absence: absence)
    }

    /// Publishes a message of an automation.
    /// - Throws: `unavailable` while there is no broker, or no room for the message.
    func publish(_ payload: Data, to topic: String) async throws(HomeError) {
        guard await bridge?.publish(MQTTPublication(topic: topic, payload: payload, qualityOfService: 1)) == true
        else { throw .unavailable("the MQTT broker cannot be reached") }
    }

    // MARK: Status

    /// How the bridge is; nil without one in the config.
    var status: MQTTAnswer? {
        get async {
            guard let configuration else { return nil }
            return MQTTAnswer(
                configuration, await bridge?.status, problem, Array(await list?.described.values ?? [:].values),
                silentTrackers: persons.silent, droppedEvents: await list?.droppedEvents ?? 0)
        }
    }
}

extension GatewayConfiguration.MQTT {
    /// Whether another config leads to the same trackers.
    func hasSameTrackers(as other: Self) -> Bool {
        (host, port, discoveryPrefix) == (other.host, other.port, other.discoveryPrefix)
    }

    /// The bridge's settings.
    var bridge: MQTTBridge.Settings {
        var broker = BrokerSettings(
            host: host, port: port, username: username, password: password, clientID: clientID)
        if let tls {
            broker.tls = .init(
                authorities: tls.authorities, certificate: tls.files?.certificate, privateKey: tls.files?.privateKey)
        }
        if publishes { broker.will = .init(topic: publisher.statusTopic, payload: "offline") }
        return .init(
            broker: broker, home: .init(discoveryPrefix: discoveryPrefix, zigbee2mqttPrefix: zigbee2mqttPrefix))
    }

    /// The publisher's settings.
    var publisher: CameraPublisher.Settings {
        .init(
            discoveryPrefix: discoveryPrefix ?? "homeassistant", topicPrefix: topicPrefix,
            gateway: clientID, acceptsCommands: acceptsCommands, publishesPictures: publishesPictures)
    }
}
