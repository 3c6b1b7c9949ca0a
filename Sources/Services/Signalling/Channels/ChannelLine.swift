import DataChannels

/// The data channels of one session, as ``SessionChannels`` uses them.
protocol ChannelLine: Sendable {
    /// Sends a text on a channel, or on all open ones. A later text of the same kind may replace one that waits.
    func send(_ text: String, on channel: UInt16?, kind: String?)
    /// Ends all channels, after a last text on each.
    func end(saying text: String?, whenDone: @escaping @Sendable () -> Void)
    /// A message that was reported has been handled.
    func recordHandled()
}

extension DataChannelLine: ChannelLine {}
