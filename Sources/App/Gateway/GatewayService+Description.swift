/// A value that logs and debuggers describe only by its type's name.
///
/// The life-cycle library logs every service that it starts and stops. A service without its own description is shown
/// with all its contents: here tokens, their digests, and the cameras' addresses.
public protocol DescribedByName: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension DescribedByName {
    public var description: String { "\(Self.self)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension GatewayService: DescribedByName {}
extension TokenStore: DescribedByName {}
extension HomeFollower: DescribedByName {}
extension Ticker: DescribedByName {}
extension ConfigurationWatcher: DescribedByName {}
extension SessionEnder: DescribedByName {}
extension MediaService: DescribedByName {}

extension Listener: DescribedByName {
    var description: String { "Listener(\(address))" }
}
