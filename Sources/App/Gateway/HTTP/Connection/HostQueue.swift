import Transport

/// What waits, with the hosts in turn: one element of each, in the order in which a host's elements came.
///
/// Every second time the host of which the fewest wait is preferred, so that somebody who does one thing at a time gets
/// it done among any number of hosts that bring a flood. The other times keep everybody going.
struct HostQueue<Element> {
    private var elements: [TransportAddress: [Element]] = [:]
    /// The hosts of which something waits, the next one first.
    private var hosts: [TransportAddress] = []
    private var prefersFew = false

    var isEmpty: Bool { self.hosts.isEmpty }

    mutating func append(_ element: Element, of host: TransportAddress) {
        if self.elements[host] == nil { self.hosts.append(host) }
        self.elements[host, default: []].append(element)
    }

    mutating func popFirst() -> Element? {
        self.prefersFew.toggle()
        let index = self.prefersFew ? self.indexOfFewest : self.hosts.indices.first
        guard let index else { return nil }
        let host = self.hosts.remove(at: index)
        let first = self.elements[host]?.removeFirst()
        if self.elements[host]?.isEmpty == true { self.elements[host] = nil } else { self.hosts.append(host) }
        return first
    }

    private var indexOfFewest: Int? {
        self.hosts.indices.min {
            (self.elements[self.hosts[$0]]?.count ?? 0) < (self.elements[self.hosts[$1]]?.count ?? 0)
        }
    }
}
