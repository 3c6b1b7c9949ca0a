import GatewayClient
import HomeTypes

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

extension HomeModel {
    /// How long to wait for a change that the gateway has confirmed. The app may not be allowed to see it.
    private static let settlingPatience = Duration.seconds(2)

    /// Waits until this process's copy of the home contains a change that the gateway has confirmed, so that a read
    /// after a command sees its effect. The event stream brings the change, in order with all others.
    ///
    /// Returns immediately if nobody follows the home, and gives up when the stream ends or after a while.
    /// - Parameter isShown: whether a state of the home contains the change.
    func settle(_ topic: HomeState.Topic, _ isShown: @escaping @Sendable (HomeState) -> Bool) async {
        guard let current, !isShown(current) else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                let changes = publisher(topic) { home, _ in .value(isShown(home)) }
                do {
                    for try await isShown in changes.values where isShown { return }
                } catch {
                    // The gateway has made the change. All who follow the home are informed of the stream's end.
                }
            }
            group.addTask { try? await Task.sleep(for: Self.settlingPatience) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Makes a change that the gateway answers with the changed object, and waits until the home contains it.
    /// - Parameters:
    ///   - read: the part of a home that changes, in the form that is compared.
    ///   - form: the form of the answer.
    func change<Answer: Decodable & Sendable, Form: Equatable & Sendable>(
        _ method: GatewayRequest.Method, _ path: String, _ body: (some Encodable & Sendable)?, _ topic: HomeState.Topic,
        reading read: @escaping @Sendable (HomeState, Answer) -> Form?,
        as form: @escaping @Sendable (Answer) -> Form
    ) async throws(HomeError) -> Answer {
        let before = current
        let answer: Answer = try await request(method, path, body)
        let (old, new) = (before.flatMap { read($0, answer) }, form(answer))
        await settle(topic) { home in
            // Somebody else may have changed it again.
            let shown = read(home, answer)
            return shown == new || shown != old
        }
        return answer
    }

    /// Changes or creates a room.
    func changeRoom(
        _ method: GatewayRequest.Method, _ path: String, _ body: [String: String]
    ) async throws(HomeError) -> Room {
        Room(
            self,
            try await change(
                method, path, body, .rooms, reading: { $0.rooms[$1.id] }, as: { (room: RoomRecord) in room }))
    }

    /// Changes or creates a structure.
    func changeStructure(
        _ method: GatewayRequest.Method, _ path: String, _ body: [String: String]
    ) async throws(HomeError) -> Structure {
        Structure(
            self,
            try await change(
                method, path, body, .structures, reading: { $0.structures[$1.content.id]?.content },
                as: { (structure: StructureRecord) in structure.content }))
    }

    /// Changes a device.
    func changeDevice(_ id: String, _ body: [String: String?]) async throws(HomeError) -> HomeDevice {
        HomeDevice(
            self,
            try await change(
                .patch, "/v1/devices/\(id)", body, .devices,
                reading: { home, _ in home.devices[id].map(DeviceContent.init) },
                as: { (device: DeviceRecord) in DeviceContent(device) }))
    }
}
