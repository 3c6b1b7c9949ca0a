/// A value that logs and debuggers tell by its type's name alone.
///
/// The life-cycle library logs every service that it starts and stops, and what has no description of its own is shown
/// with all that it holds: here tokens, their digests, and the cameras' addresses.
public protocol DescribedByName: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension DescribedByName {
    public var description: String { "\(Self.self)" }
    public var debugDescription: String { self.description }
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
    var description: String { "Listener(\(self.address))" }
}
