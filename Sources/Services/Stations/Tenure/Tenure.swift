import Transport

/// The right of one gateway of a home to run a device: to pull its camera, to write and upload its recordings, to talk to
/// it and to apply its commands. Two gateways never have one for a device at the same time.
public struct Tenure: Sendable, Hashable {
    /// The device.
    public var device: String
    /// Greater than that of every earlier tenure of the device, no matter who had it. What is written under a tenure holds its
    /// epoch, so something late from an earlier owner can be recognized.
    public var epoch: UInt64
    /// When the tenure ends unless it is renewed, by the clock of all deadlines.
    public var deadline: Instant

    /// Describes a tenure.
    public init(device: String, epoch: UInt64, deadline: Instant) {
        self.device = device
        self.epoch = epoch
        self.deadline = deadline
    }
}

/// Decides which gateway of a home runs a device.
public protocol Coordinator: Sendable {
    /// Asks for a device.
    /// - Returns: the tenure; nil while another gateway has one.
    func tenure(of device: String) async -> Tenure?

    /// Gives a tenure back before its deadline. The device is no longer used.
    func release(_ tenure: Tenure) async
}

/// The coordinator of a home with one gateway: it grants every device at once and for good.
public struct LocalCoordinator: Coordinator {
    private let epoch: @Sendable () -> UInt64

    /// - Parameter epoch: the epoch of tenures that begin now; it grows from start to start of the gateway.
    public init(epoch: @escaping @Sendable () -> UInt64 = { 1 }) {
        self.epoch = epoch
    }

    public func tenure(of device: String) async -> Tenure? {
        Tenure(device: device, epoch: epoch(), deadline: .distantFuture)
    }

    public func release(_ tenure: Tenure) async {}
}
