import Foundation
import GatewayClient
import HomeTypes
import Transport

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// The home of a gateway (Home APIs, `Home`): the way to its structures, rooms and devices.
///
/// ```swift
/// await Home.configure { $0.address = "http://127.0.0.1:8080" }
/// let home = try await Home.connect()
/// for device in try await home.devices().list() { print(device.name) }
/// ```
public final class Home: Sendable {
    /// Names an account: the gateway's address.
    public typealias AccountID = String

    /// The version of this library.
    public static let version = "1.0.0"

    @MainActor private static var configuration = HomeClientConfiguration()

    /// How the home is reached: the gateway's address.
    public let identifier: AccountID
    let model: HomeModel

    init(
        _ connection: GatewayConnection, _ configuration: HomeClientConfiguration, feed: (any HomeModel.Feed)? = nil
    ) {
        identifier = connection.address
        model = HomeModel(
            connection, configuration,
            feed: feed ?? GatewayFeed(connection: connection, configuration: configuration))
    }

    /// Receives the failures of streams whose subscribers take values only.
    static func reportUnhandled(_ error: HomeError) {
        Task { @MainActor in configuration.unhandledStreamFailure(error) }
    }

    /// Changes how homes are reached from then on.
    @MainActor public static func configure(_ change: (inout HomeClientConfiguration) -> Void) {
        change(&configuration)
    }

    /// Connects to the gateway that is configured, that the environment names, or that runs on this machine.
    /// - Throws: `unauthenticated` without a token, or when the gateway refuses it; `unavailable` when no
    ///   gateway can be reached.
    @MainActor public static func connect() async throws(HomeError) -> Home {
        let home = try Home(configuration)
        _ = try await home.model.connection.get("/v1/gateway")
        return home
    }

    /// Connects as `connect` does.
    /// - Returns: nil without a token, or when the gateway refuses it. A gateway that cannot be reached right
    ///   now is not an obstacle: its streams fail until it can be. Neither is a gateway that has no time for the request, or a
    ///   task that is cancelled.
    @MainActor public static func restoreSession() async -> Home? {
        guard let home = try? Home(configuration) else { return nil }
        do throws(HomeError) {
            _ = try await home.model.connection.get("/v1/gateway")
        } catch {
            switch error.code {
            // The gateway has not judged the token.
            case .unavailable, .deadlineExceeded, .resourceExhausted, .cancelled: break
            default: return nil
            }
        }
        return home
    }

    /// The home at an address, with the token that is configured.
    /// - Throws: `unauthenticated` without a token.
    @MainActor public convenience init(account: AccountID) throws(HomeError) {
        var configuration = Self.configuration
        configuration.address = account
        try self.init(configuration)
    }

    /// Ends all streams, which fail with `cancelled`. The home cannot be used afterwards.
    public func disconnect() async {
        model.end(.cancelled("the home was disconnected; call Home.connect for another"))
    }

    /// The structures.
    public func structures() -> StructuresController { StructuresController(model: model) }

    /// The rooms of all structures.
    public func rooms() -> some Query<Room> { model.rooms() }

    /// The devices of all structures.
    public func devices() -> some Query<HomeDevice> { model.devices() }

    /// The devices of all structures (Home APIs 1.8).
    /// - Parameter enableMultipartDevices: has no effect here. A device with several parts is one device in either case, as it is for
    ///   the gateway, its history and its automations. `types.getAll(of:)` has the parts.
    public func devices(enableMultipartDevices: Bool) -> some Query<HomeDevice> { model.devices() }

    /// A device, again after each change of what it contains.
    ///
    /// The stream ends when the device is removed. It fails with `notFound` if the home has no such device.
    public func device(id: String) -> AnyPublisher<HomeDevice, HomeError> {
        let model = model
        return StreamPublisher<HomeDevice> {
            // Each subscription records for itself whether it has seen the device.
            let seen = Locked(false)
            return ModelSource(
                model, .devices,
                LatestValue<HomeDevice> { home in
                    if let record = home.devices[id] {
                        seen.withLock { $0 = true }
                        return .value(HomeDevice(model, record))
                    }
                    return seen.withLock { $0 } ? .gone : .failure(.notFound("the home has no device \(id)"))
                })
        }.eraseToAnyPublisher()
    }

    /// A device, again after each change of what it contains (Home APIs 1.8).
    /// - Parameter enableMultipartDevices: see `devices(enableMultipartDevices:)`.
    public func device(id: String, enableMultipartDevices: Bool) -> AnyPublisher<HomeDevice, HomeError> {
        device(id: id)
    }
}
