// What is read from ns-3 while it runs: the queues, looked at every so often, and what is counted in a window of time.
// cppyy compiles it when ns3_side.py is imported.
#include "ns3/core-module.h"
#include "ns3/applications-module.h"
#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

namespace validation
{

/// The queue of one output port of a switch.
struct Port
{
	ns3::Ptr<ns3::QueueDisc> disc;
	ns3::Ptr<ns3::Queue<ns3::Packet>> device;
	std::string layer;
	/// How often so many packets waited, by their number.
	std::vector<uint64_t> looks;
	/// In the window: its end less its beginning.
	int64_t bytes = 0, drops = 0;

	void Count(int64_t sign)
	{
		const auto &stats = disc->GetStats();
		bytes += sign * static_cast<int64_t>(stats.nTotalSentBytes);
		drops += sign * stats.nTotalDroppedPackets;
	}

	/// Packets that wait, with that in the device and without that in transmission.
	void Look()
	{
		const size_t waiting = disc->GetNPackets() + device->GetNPackets();
		if (looks.size() <= waiting)
			looks.resize(waiting + 1);
		looks[waiting]++;
	}
};

/// Everything that is measured in one run.
class Watch
{
  public:
	std::vector<Port> ports;
	std::vector<ns3::Ptr<ns3::PacketSink>> sinks;
	/// What every sink received in the window.
	std::vector<int64_t> received;
	/// Packets that arrived with a mark. Queue discs count a packet again when it has been marked before.
	int64_t marks = 0;
	int64_t timeouts = 0;

	void AddPort(ns3::Ptr<ns3::QueueDisc> disc, ns3::Ptr<ns3::NetDevice> device, std::string layer)
	{
		auto queue = ns3::DynamicCast<ns3::PointToPointNetDevice>(device)->GetQueue();
		ports.push_back({disc, queue, layer, {}});
	}

	void AddSink(ns3::Ptr<ns3::Application> sink)
	{
		sinks.push_back(ns3::DynamicCast<ns3::PacketSink>(sink));
		received.push_back(0);
	}

	/// Runs until `stop`, and measures from `start` on, with a look at all queues every `every`.
	void Run(ns3::Time start, ns3::Time stop, ns3::Time every)
	{
		m_every = every;
		ns3::Simulator::Schedule(start, &Watch::Begin, this);
		ns3::Simulator::Stop(stop);
		ns3::Simulator::Run();
		Count(1);
	}

  private:
	ns3::Time m_every;

	void Begin()
	{
		Count(-1);
		ns3::Config::ConnectWithoutContext("/NodeList/*/$ns3::TcpL4Protocol/SocketList/*/RTO",
						   ns3::MakeCallback(&Watch::Rto, this));
		ns3::Config::ConnectWithoutContext("/NodeList/*/$ns3::Ipv4L3Protocol/LocalDeliver",
						   ns3::MakeCallback(&Watch::Deliver, this));
		ns3::Simulator::Schedule(m_every, &Watch::Look, this);
	}

	void Count(int64_t sign)
	{
		for (auto &port : ports)
			port.Count(sign);
		for (size_t i = 0; i < sinks.size(); i++)
			received[i] += sign * static_cast<int64_t>(sinks[i]->GetTotalRx());
	}

	void Look()
	{
		for (auto &port : ports)
			port.Look();
		ns3::Simulator::Schedule(m_every, &Watch::Look, this);
	}

	void Deliver(const ns3::Ipv4Header &header, ns3::Ptr<const ns3::Packet>, uint32_t)
	{
		marks += header.GetEcn() == ns3::Ipv4Header::ECN_CE;
	}

	/// A timeout doubles the RTO; nothing else does.
	void Rto(ns3::Time before, ns3::Time after)
	{
		timeouts += after == before + before;
	}
};

} // namespace validation
