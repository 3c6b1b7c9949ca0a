import RTSPServer
import Signalling
import Stations
import Testing

@Suite struct ReaderEndTests {
    @Test(arguments: [
        (ReaderEnd.tornDown, "the client ended it"),
        (.closedByClient, "the client closed the connection"),
        (.connectionLost, "the connection was lost"),
        (.finished, "the session has ended"),
        (.gaveWay, "the connection was closed to make room for another one"),
        (.tooSlow, "the reader is too slow"),
        (.silent, "the client sent nothing for too long"),
        (.stoppedReading, "the client stopped reading"),
        (.trackGone, "the camera no longer sends this track"),
        (.cameraRemoved, "the camera has been removed"),
        (.revoked(.off), "the camera was switched off"),
        (.publishingEnded(.replaced), "another publisher has taken over the camera"),
        (.shuttingDown, "the gateway is shutting down"),
    ])
    func anEndHasItsWords(_ end: ReaderEnd, _ words: String) {
        #expect(end.words == words)
    }
}
