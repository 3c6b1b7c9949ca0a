import Intake
import MediaRelay

/// Sources hand their packets straight to the relay.
extension TrackInlet: PacketInlet {}
